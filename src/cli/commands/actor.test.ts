import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CommandContext } from "../command-context.ts";
import { Input } from "../command-spec.ts";
import { resolvePaths } from "../paths.ts";
import { typedTerminal } from "../testing/typed-terminal.ts";
import { actorRemove } from "./actor.ts";

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
