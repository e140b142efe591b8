import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, expect, test } from "vitest";
import { capturedIo } from "./testing/captured-io.ts";
import { runCli } from "./run-cli.ts";
import { width } from "./terminal/terminal-text.ts";

const directory = mkdtempSync(join(tmpdir(), "cleveragents-run-cli-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function called(argv: readonly string[], parts: Parameters<typeof capturedIo>[0] = {}) {
  const io = capturedIo({ cwd: directory, ...parts });
  const code = await runCli(argv, io);
  return { code, ...io.written };
}

test("a call writes to the streams it was given, and its exit code is returned", async () => {
  const env = { CLEVERAGENTS_DATA_DIR: join(directory, "one"), CLEVERAGENTS_FORMAT: "json" };
  const { code, stdout, stderr } = await called(["plan", "list"], { env });
  expect({ code, stderr, command: (JSON.parse(stdout) as { command: string }).command }).toEqual({
    code: 0,
    stderr: "",
    command: "plan list",
  });
  const unknown = await called(["plan", "show\u001b"], { env: { ...env, CLEVERAGENTS_FORMAT: "plain" } });
  expect(unknown).toMatchObject({ code: 2, stdout: "" });
  expect(unknown.stderr).toContain('There is no command "agents plan show<U+001B>"');
});

test("relative paths and standard input are those of the call", async () => {
  const action = "name: fix\ndescription: Fix it\ndefinition_of_done: It is fixed\nexecution_actor: openai/gpt-4o\n";
  writeFileSync(join(directory, "fix.yaml"), action);
  const data = ["--data-dir", "two"];
  expect(await called([...data, "action", "create", "--config", "fix.yaml"])).toMatchObject({ code: 0 });
  const input = action.replace("name: fix", "name: mend");
  expect(await called([...data, "action", "create", "--config", "-"], { input })).toMatchObject({ code: 0 });
  const { stdout } = await called([...data, "action", "list", "--format", "json"]);
  expect(stdout).toContain("local/fix");
  expect(stdout).toContain("local/mend");
  expect(readFileSync(join(directory, "two/cleveragents.db")).length).toBeGreaterThan(0);
});

test("calls side by side see their own data, environment and words only", async () => {
  const names = Array.from({ length: 8 }, (_, index) => `project-${index}`);
  await Promise.all(
    names.map(async (name) => {
      const env = { CLEVERAGENTS_DATA_DIR: join(directory, name), CLEVERAGENTS_USER: `user of ${name}` };
      for (const words of [
        ["project", "create", name],
        ["project", "list"],
        ["audit", "list"],
      ]) {
        const { code, stdout } = await called([...words, "--format", "json"], { env });
        expect(code).toBe(0);
        for (const other of names) expect(stdout.includes(other)).toBe(other === name);
      }
    }),
  );
});

test("a secret in the environment of one call is masked there, and in no other call", async () => {
  const secret = "wombats-like-tea-4711";
  const show = ["--data-dir", "four", "project", "show", secret];
  for (let time = 0; time < 2; time += 1) {
    const masked = await called(show, { env: { TEA_PASSWORD: secret } });
    expect([masked.code, masked.stderr.includes(secret)]).toEqual([3, false]);
    expect((await called(show)).stderr).toContain(secret);
  }
});

test("an interrupted call stops, and says what is kept", async () => {
  const env = { CLEVERAGENTS_DATA_DIR: join(directory, "three") };
  writeFileSync(join(directory, "a.ts"), "export const a = 1;\n");
  const words = ["context", "pack", "a", "--path", ".", "--format", "plain"];
  const { code, stderr } = await called(words, { env, signal: AbortSignal.abort() });
  expect(code).toBe(1);
  expect(stderr).toContain("stopping; press Ctrl-C again to kill");
  expect(stderr).toContain("It was interrupted.");
});

test("a result is as wide as the terminal is when it is printed, also when it was wider at the start", async () => {
  const io = capturedIo({ cwd: directory, env: { CLEVERAGENTS_DATA_DIR: join(directory, "wide"), TERM: "xterm" } });
  const terminal = { isTTY: true, columns: 120 };
  const done = runCli(["resource", "type", "list"], {
    ...io,
    stdout: Object.assign(terminal, { write: io.stdout.write }),
  });
  terminal.columns = 50;
  await done;
  const widths = io.written.stdout.split("\n").map((line) => width(stripVTControlCharacters(line)));
  expect(Math.max(...widths)).toBeLessThanOrEqual(50);
  expect(Math.max(...widths)).toBeGreaterThan(30);
});
