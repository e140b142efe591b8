import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CommandContext } from "../command-context.ts";
import { Input } from "../command-spec.ts";
import { resolvePaths } from "../paths.ts";
import { typedTerminal } from "../testing/typed-terminal.ts";
import { actorAdd, actorRemove } from "./actor.ts";

test("an actor is removed only after a yes", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "cleveragents-actor-"));
  try {
    const environment = { CLEVERAGENTS_DATA_DIR: dataDir };
    const paths = resolvePaths({}, environment);
    await using context = new CommandContext({ paths, options: { verbose: 0 }, environment });
    const actors = await context.actors();
    await actors.addActor({ name: "greeter", type: "tool", description: "x", steps: [{ tool: "git_status" }] });
    const input = new Input(["greeter"], {});
    expect(await actorRemove(context, input, typedTerminal("n\n"))).toMatchObject({
      data: { removed: false },
      status: "warn",
      messages: [{ level: "warning", text: "Nothing was removed." }],
    });
    expect(await actors.listActors()).toHaveLength(1);
    expect((await actorRemove(context, input, typedTerminal("y\n"))).data).toEqual({
      removed: true,
      actor: "local/greeter",
    });
    expect(await actors.listActors()).toEqual([]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test("a file that wants more than the harmless is shown, and used only after a yes", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "cleveragents-actor-"));
  try {
    const environment = { CLEVERAGENTS_DATA_DIR: dataDir, PLACE: "canary-place" };
    const paths = resolvePaths({}, environment);
    await using context = new CommandContext({ paths, options: { verbose: 0 }, environment });
    const config = join(dataDir, "helper.yaml");
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
    await writeFile(config, lines.join("\n"));
    const input = new Input([], { config });
    const no = typedTerminal("n\n");
    expect(await actorAdd(context, input, no)).toMatchObject({ data: { added: false }, status: "warn" });
    const shown = no.seen();
    for (const text of [
      "to run in the sandbox: (commands that its model chooses)",
      "to send prompts and code to https://models.example/v1",
      "to send the value of PLACE to https://models.example/v1",
      "local/helper calls itself unsafe",
    ]) {
      expect(shown).toContain(text);
    }
    expect(shown).not.toContain("canary");
    expect(await (await context.actors()).listActors()).toEqual([]);

    expect((await actorAdd(context, input, typedTerminal("y\n"))).data["actors_added"]).toEqual(["local/helper"]);
    await (await context.actors()).removeActor("local/helper");
    const again = typedTerminal("n\n");
    expect((await actorAdd(context, input, again)).data["actors_added"]).toEqual(["local/helper"]);
    expect(again.seen()).toBe("");
    // Another endpoint is another question.
    await (await context.actors()).removeActor("local/helper");
    await writeFile(config, lines.join("\n").replace("models.example", "other.example"));
    expect((await actorAdd(context, input, typedTerminal("n\n"))).data["added"]).toBe(false);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
