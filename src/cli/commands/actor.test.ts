import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { CommandContext } from "../command-context.ts";
import { Input } from "../command-spec.ts";
import { resolvePaths } from "../paths.ts";
import { actorRemove } from "./actor.ts";

function terminal(answer: string) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  input.end(answer);
  return { input, output: Object.assign(new PassThrough(), { isTTY: true }) };
}

test("an actor is removed only after a yes", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "cleveragents-actor-"));
  try {
    const environment = { CLEVERAGENTS_DATA_DIR: dataDir };
    const paths = resolvePaths({}, environment);
    await using context = new CommandContext({ paths, options: { verbose: 0 }, environment });
    const actors = await context.actors();
    await actors.addActor({ name: "greeter", type: "tool", description: "x", steps: [{ tool: "git_status" }] });
    const input = new Input(["greeter"], {});
    expect(await actorRemove(context, input, terminal("n\n"))).toMatchObject({
      data: { removed: false },
      status: "warn",
      messages: [{ level: "warning", text: "Nothing was removed." }],
    });
    expect(await actors.listActors()).toHaveLength(1);
    expect((await actorRemove(context, input, terminal("y\n"))).data).toEqual({
      removed: true,
      actor: "local/greeter",
    });
    expect(await actors.listActors()).toEqual([]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
