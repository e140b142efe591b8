import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, makeRepository } from "../testing/git-repository.ts";
import { Agents } from "./testing/agents.ts";

/** `agents run` with actors that need no model; what models do is in model-plans.integration.test.ts. */
const NOTE = `name: note
type: tool
description: Writes down what was asked for
steps:
  - { id: note, tool: write_file, params: { path: note.txt, content: "{request}\\n" } }
`;

async function world(): Promise<{ agents: Agents; repository: string }> {
  const agents = new Agents();
  const repository = makeRepository(join(agents.directory, "my shop.js"));
  agents.write("note.yaml", NOTE);
  await agents.json("actor", "add", "--config", "note.yaml");
  return { agents, repository };
}

const REQUEST = "make {braces} and ümlauts: stay";

test("a request becomes a plan, a diff and a commit, and can be taken out again", async () => {
  const { agents, repository } = await world();
  using _ = agents;
  const cwd = join(repository, "deep/inside");
  mkdirSync(cwd, { recursive: true });
  const words = ["run", REQUEST, "--actor", "note", "--automation-profile", "trusted", "--yes"];
  const { code, stdout, stderr } = await agents.run([...words, "--format", "json"], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { data, messages } = JSON.parse(stdout);
  expect(data).toMatchObject({
    made: ["resource local/my-shop-js", "project local/my-shop-js", "action local/run"],
    description: REQUEST,
    phase: "apply",
    state: "applied",
    changes: { insertions: 1, deletions: 0 },
    landings: [{ resource: "my-shop-js", files: ["note.txt"] }],
    next_steps: [`agents plan undo ${data.plan_id}`, "agents cleanup run"],
  });
  expect(messages.map(({ text }: { text: string }) => text)).toEqual([
    "Made resource local/my-shop-js.",
    "Made project local/my-shop-js.",
    "Made action local/run.",
    "Not checked: no validation is attached, and the project names no test command.",
    expect.stringMatching(/is applied: 1 file \(\+1 −0\) to main of .*my shop\.js \(commit [0-9a-f]{10}\)\./),
  ]);
  expect(readFileSync(join(repository, "note.txt"), "utf8")).toBe(`${REQUEST}\n`);
  expect(git(repository, "log", "-1", "--format=%s")).toBe(`${REQUEST}\n`);
  await agents.json("plan", "undo", data.plan_id, "--yes");
  expect(git(repository, "ls-files")).toBe("README\n");
});

test("with --events everything that happens is a line of JSON, and the result is the last one", async () => {
  const { agents, repository } = await world();
  using _ = agents;
  const words = ["--events", "run", REQUEST, "--actor", "note", "--automation-profile", "trusted", "--yes"];
  const { code, stdout, stderr } = await agents.run(words, { cwd: repository });
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line): Record<string, unknown> => JSON.parse(line));
  expect([code, stderr]).toEqual([0, ""]);
  const types = lines.map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(["plan_made", "run_started", "step_started", "step_done", "landing"]));
  expect(lines.find(({ type }) => type === "step_done")).toMatchObject({
    step: "note",
    duration_ms: expect.any(Number),
  });
  expect(lines.at(-1)).toMatchObject({ type: "result", command: "run", exit_code: 0, data: { state: "applied" } });
  const wrong = await agents.run(["--events", "plan", "diff", "nothing"], { cwd: repository });
  expect(JSON.parse(wrong.stdout)).toMatchObject({ type: "result", status: "error", exit_code: 3 });
});

test("without a terminal and without --yes it stops before it lands, and says how to go on", async () => {
  const { agents, repository } = await world();
  using _ = agents;
  const { code, stdout, stderr } = await agents.run(["run", "write", "it", "down", "--actor", "note"], {
    cwd: repository,
  });
  expect(code).toBe(0);
  const [, id] = /^plan (\w+) of local\/my-shop-js \(new: resource /.exec(stderr) ?? [];
  expect(stderr).toContain("done     note  write_file");
  expect(stdout).toContain(`next: agents plan diff ${id}\nnext: agents plan apply ${id}\n`);
  expect(git(repository, "status", "--porcelain")).toBe("");
  const applied = await agents.json("plan", "apply", String(id), "--yes");
  expect(applied.data).toMatchObject({ state: "applied", description: "write it down" });
});

test("the way to the same plan again, of one that was cancelled, is by the actor it had", async () => {
  const { agents, repository } = await world();
  using _ = agents;
  agents.write("other.yaml", NOTE.replace("name: note", "name: other"));
  await agents.json("actor", "add", "--config", "other.yaml");
  const ran = async (actor: string): Promise<string> => {
    const { stdout } = await agents.run(["run", "write it", "--actor", actor, "--format", "json"], { cwd: repository });
    return String(JSON.parse(stdout).data.plan_id);
  };
  await ran("note");
  const { data } = await agents.json("plan", "cancel", await ran("other"));
  const [again = ""] = data["recovery"] as string[];
  expect(again).toBe(
    "agents plan use local/run local/my-shop-js --arg 'request=write it' --execution-actor local/other",
  );
  const words = again
    .replace(/'([^']*)'/g, (_, word: string) => word.replace(" ", "\0"))
    .split(" ")
    .slice(1);
  const made = await agents.json(...words.map((word) => word.replace("\0", " ")));
  expect(made.data).toMatchObject({ actors: { execution: "local/other" }, description: "write it" });
  expect((await agents.json("action", "show", "local/run")).data).toMatchObject({
    action: { actors: { execution: null } },
  });
  expect(JSON.stringify((await agents.json()).data["next_steps"])).not.toContain("plan use local/run");
});

test("what a run needs is made once, also by many at the same moment", async () => {
  const { agents, repository } = await world();
  using _ = agents;
  const words = ["run", "again", "--actor", "note", "--automation-profile", "trusted", "--format", "json"];
  const runs = await Promise.all(Array.from({ length: 6 }, () => agents.process(words, { cwd: repository })));
  expect(runs.map(({ code }) => code)).toEqual(runs.map(() => 0));
  const made = runs.flatMap(({ stdout }) => JSON.parse(stdout).data.made as string[]);
  expect(made.toSorted()).toEqual(["action local/run", "project local/my-shop-js", "resource local/my-shop-js"]);
  expect((await agents.json("plan", "list")).data).toMatchObject({ plans: runs.map(() => ({ action: "local/run" })) });
});

test("a name that belongs to another definition is not taken over", async () => {
  const { agents, repository } = await world();
  using _ = agents;
  const other = makeRepository(join(agents.directory, "other"));
  await agents.json("resource", "add", "git-checkout", "my-shop-js", "--path", other);
  await agents.json("project", "create", "my-shop-js", "--resource", "my-shop-js");
  const { stdout } = await agents.run(["run", "x", "--actor", "note", "--format", "json"], { cwd: repository });
  expect(JSON.parse(stdout).data).toMatchObject({
    made: ["resource local/my-shop-js-2", "project local/my-shop-js-2", "action local/run"],
    project: "local/my-shop-js-2",
  });
});

test("a project can be named, and need not be a repository", async () => {
  const { agents } = await world();
  using _ = agents;
  const place = join(agents.directory, "plain");
  mkdirSync(place);
  writeFileSync(join(place, "a.txt"), "a\n");
  await agents.json("resource", "add", "fs-directory", "plain", "--path", place);
  await agents.json("project", "create", "plain", "--resource", "plain");
  await agents.json("project", "create", "empty");
  const words = ["run", "x", "--actor", "note", "--automation-profile", "trusted"];
  expect((await agents.json(...words, "--project", "plain", "--yes")).data).toMatchObject({ state: "applied" });
  expect(readFileSync(join(place, "note.txt"), "utf8")).toBe("x\n");
  expect((await agents.json(...words, "--project", "empty")).error).toMatchObject({
    message: "The project local/empty has no resource to work on.",
    kept: "Nothing was written.",
  });
});

test.each([
  [[""], "Say what you want done."],
  [["x", "--actor", "unknown"], 'There is no actor "local/unknown"'],
  [["x", "--actor", "note"], "is not in a git repository"],
])("what cannot be run is refused before anything is written: %j", async (words, message) => {
  using agents = new Agents();
  agents.write("note.yaml", NOTE);
  await agents.json("actor", "add", "--config", "note.yaml");
  const before = await agents.json("audit", "list");
  const { error, exit_code } = await agents.json("run", ...words);
  expect(exit_code).not.toBe(0);
  expect(error?.message).toContain(message);
  expect(error?.kept).toMatch(/^Nothing was written/);
  expect((await agents.json("audit", "list")).data).toEqual(before.data);
});

test("what is not committed is said beforehand, and a repository without a commit is refused", async () => {
  const { agents, repository } = await world();
  using _ = agents;
  writeFileSync(join(repository, "README"), "changed\n");
  writeFileSync(join(repository, "new file"), "new\n");
  const words = ["run", "x", "--actor", "note", "--format", "json"];
  const texts = async (...more: string[]): Promise<string[]> => {
    const { stdout } = await agents.run([...words, ...more], { cwd: repository });
    return (JSON.parse(stdout).messages as { level: string; text: string }[])
      .filter(({ level }) => level === "warning")
      .map(({ text }) => text);
  };
  expect(await texts()).toEqual([expect.stringContaining("2 uncommitted files are not part of this plan")]);
  expect(await texts("--include-dirty")).toEqual([]);
  const empty = join(agents.directory, "empty");
  mkdirSync(empty);
  git(empty, "init", "--quiet");
  const { stdout } = await agents.run(words, { cwd: empty });
  expect(JSON.parse(stdout).error.message).toMatch(/ has no commit to start from\.$/);
});

test("an action of that name that is none for requests is left alone", async () => {
  const { agents, repository } = await world();
  using _ = agents;
  agents.write("run.yaml", "name: run\ndescription: x\ndefinition_of_done: y\nexecution_actor: note\n");
  await agents.json("action", "create", "--config", "run.yaml");
  const words = ["run", "x", "--actor", "note", "--format", "json"];
  const refused = JSON.parse((await agents.run(words, { cwd: repository })).stdout);
  expect(refused).toMatchObject({ exit_code: 4, error: { kept: "Nothing was written." } });
  expect(refused.error.message).toContain('it has no argument "request"');
  await agents.json("action", "archive", "run");
  expect((await agents.json("project", "list")).data).toMatchObject({ projects: [] });
  const archived = JSON.parse((await agents.run(words, { cwd: repository })).stdout);
  expect(archived.error.message).toContain('it has no argument "request"');
});
