/** Where `agents run` works, and what it refuses before anything is paid for. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "./run-cli.ts";
import { Agents } from "./testing/agents.ts";
import { capturedIo } from "./testing/captured-io.ts";
import { typedTerminal } from "./testing/typed-terminal.ts";
import { World } from "./testing/world.ts";

const STAMP = `name: stamp
type: tool
description: leaves a stamp
steps:
  - { tool: write_file, params: { path: stamp.txt, content: "was here\\n" } }
`;

/** A directory outside of git with one file, and an actor that needs no model. */
async function plainDirectory(agents: Agents): Promise<string> {
  const directory = join(agents.directory, "notes");
  mkdirSync(directory);
  writeFileSync(join(directory, "note.txt"), "a note\n");
  agents.write("stamp.yaml", STAMP);
  await agents.json("actor", "add", "--config", "stamp.yaml");
  return directory;
}

async function atTerminal(agents: Agents, cwd: string, answer: string): Promise<{ code: number; seen: string }> {
  const terminal = typedTerminal(answer);
  const env = { CLEVERAGENTS_DATA_DIR: agents.dataDir };
  const io = { ...capturedIo({ env, cwd }), stdin: terminal.input, stderr: terminal.output };
  const code = await runCli(["run", "stamp it", "--actor", "local/stamp"], io);
  return { code, seen: terminal.seen() };
}

test("outside git a run works on the directory after asking, and asks once", async () => {
  using agents = new Agents();
  const directory = await plainDirectory(agents);
  const refused = await agents.run(["run", "stamp it", "--actor", "local/stamp"], { cwd: directory });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("is not in a git repository");
  expect(refused.stderr).toContain("to work on the directory itself: agents run --yes");
  const no = await atTerminal(agents, directory, "n\n");
  expect(no.seen).toContain("Work on this directory, in a copy of it?");
  expect(no.code).toBe(2);
  expect((await agents.json("resource", "list")).data["resources"]).toEqual([]);
  const yes = await agents.run(["run", "stamp it", "--actor", "local/stamp", "--yes"], { cwd: directory });
  expect([yes.stderr, yes.code]).toEqual([expect.any(String), 0]);
  expect(readFileSync(join(directory, "stamp.txt"), "utf8")).toBe("was here\n");
  expect((await agents.json("resource", "list")).data["resources"]).toMatchObject([
    { name: "local/notes", type: "fs-directory" },
  ]);
  const again = await agents.run(["run", "again", "--actor", "local/stamp"], { cwd: directory });
  expect(again.stderr).not.toContain("is not in a git repository");
});

test("the root of the file system is never copied", async () => {
  using agents = new Agents();
  await plainDirectory(agents);
  const { code, stderr } = await agents.run(["run", "x", "--actor", "local/stamp", "--yes"], { cwd: "/" });
  expect([code, stderr]).toEqual([2, expect.stringContaining("/ is not in a git repository")]);
  expect((await agents.json("resource", "list")).data["resources"]).toEqual([]);
});

test("a merge in progress is told before anything is made", async () => {
  using world = new World();
  const { agents, repository } = world;
  agents.write("stamp.yaml", STAMP);
  await agents.json("actor", "add", "--config", "stamp.yaml");
  writeFileSync(join(repository, ".git/MERGE_HEAD"), world.git("rev-parse", "HEAD"));
  const run = () => agents.run(["run", "x", "--actor", "local/stamp", "--yes"], { cwd: repository });
  const refused = await run();
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("A merge is in progress in")]);
  expect(refused.stderr).toContain("git merge --continue");
  expect((await agents.json("plan", "list")).data["plans"]).toEqual([]);
  expect((await agents.json("resource", "list")).data["resources"]).toEqual([]);
});
