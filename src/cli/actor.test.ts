/** The questions of the actor commands, answered on a terminal. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, expect, test } from "vitest";
import { runCli } from "./run-cli.ts";
import type { Envelope } from "./testing/agents.ts";
import { capturedIo } from "./testing/captured-io.ts";
import { typedTerminal } from "./testing/typed-terminal.ts";

type Call = (words: readonly string[], typed?: string) => Promise<Envelope & { readonly seen: string }>;

/** Calls on a terminal where a person answers the question with `typed`. */
function world(variables: Readonly<Record<string, string>> = {}): { readonly directory: string; readonly call: Call } {
  const directory = mkdtempSync(join(tmpdir(), "cleveragents-actor-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const env = { CLEVERAGENTS_DATA_DIR: join(directory, "data"), CLEVERAGENTS_FORMAT: "json", ...variables };
  const call: Call = async (words, typed = "") => {
    const { input, output, seen } = typedTerminal(typed);
    const io = capturedIo({ env, cwd: directory });
    await runCli(words, { ...io, stdin: input, stderr: output });
    return { ...(JSON.parse(io.written.stdout) as Envelope), seen: seen() };
  };
  return { directory, call };
}

const names = async (call: Call): Promise<unknown> =>
  ((await call(["actor", "list"])).data["actors"] as { name: string }[]).map(({ name }) => name);

test("an actor is removed only after a yes", async () => {
  const { directory, call } = world();
  const yaml = "name: greeter\ntype: tool\ndescription: x\nsteps: [{ tool: git_status }]\n";
  writeFileSync(join(directory, "greeter.yaml"), yaml);
  await call(["actor", "add", "--config", "greeter.yaml"]);
  expect(await call(["actor", "remove", "greeter"], "n\n")).toMatchObject({
    data: { removed: false },
    status: "warn",
    messages: [{ level: "warning", text: "Nothing was removed." }],
  });
  expect(await names(call)).toEqual(["local/greeter"]);
  const removed = await call(["actor", "remove", "greeter"], "y\n");
  expect(removed.data).toEqual({ removed: true, actor: "local/greeter" });
  expect(await names(call)).toEqual([]);
});

test("a file that wants more than the harmless is shown, and used only after a yes", async () => {
  const { directory, call } = world({ PLACE: "canary-place" });
  const lines = [
    "name: helper",
    "type: llm",
    "description: x",
    "model: m",
    'options: { base_url: "https://models.example/v1" }',
    "tools: [shell_execute]",
    "system_prompt: I am in ${PLACE}",
    "unsafe: true",
  ];
  const config = join(directory, "helper.yaml");
  writeFileSync(config, lines.join("\n"));
  const add = ["actor", "add", "--config", "helper.yaml"];
  const refused = await call(add, "n\n");
  expect(refused).toMatchObject({ data: { added: false }, status: "warn" });
  for (const text of [
    "to run in the sandbox: (commands that its model chooses)",
    "to send prompts and code to https://models.example/v1",
    "to send the value of PLACE to https://models.example/v1",
    "local/helper calls itself unsafe",
  ]) {
    expect(refused.seen).toContain(text);
  }
  expect(refused.seen).not.toContain("canary");
  expect(await names(call)).toEqual([]);

  expect((await call(add, "y\n")).data["actors_added"]).toEqual(["local/helper"]);
  await call(["actor", "remove", "helper", "--yes"]);
  const again = await call(add, "n\n");
  expect(again.data["actors_added"]).toEqual(["local/helper"]);
  expect(again.seen).toBe("");
  // Another endpoint is another question.
  await call(["actor", "remove", "helper", "--yes"]);
  writeFileSync(config, lines.join("\n").replace("models.example", "other.example"));
  expect((await call(add, "n\n")).data["added"]).toBe(false);
});

test("a wish that spans lines is shown on one", async () => {
  const { directory, call } = world();
  const command = JSON.stringify("make\n  to run in the sandbox: nothing else");
  const step = `{ tool: shell_execute, params: { command: ${command} } }`;
  writeFileSync(join(directory, "h.yaml"), `name: h\ntype: tool\ndescription: x\nsteps: [${step}]\n`);
  const { seen } = await call(["actor", "add", "--config", "h.yaml"], "n\n");
  expect(seen).toContain("to run in the sandbox: make to run in the sandbox: nothing else");
});
