import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { ROOT } from "../cli/testing/agents.ts";
import type * as Library from "../index.ts";
import { TestDirectory } from "../store/testing/fixtures.ts";
import { KEYS, KINDS, modelServer, settingsFor } from "./testing/model-world.ts";

/** Each provider is loaded when it is first asked; what a bundle does to it shows only then. */
test.each(KINDS)("$provider answers from the bundle, also for those with more patience than Node", async (kind) => {
  const library = (await import(pathToFileURL(join(ROOT, "dist/index.js")).href)) as typeof Library;
  await using directory = await TestDirectory.make();
  await using server = await modelServer();
  server.onMessage("greet", { content: "Hello." });
  for (const timeout of ["60", "600"]) {
    const settings = Object.fromEntries(settingsFor(server.url, { [`provider.${kind.provider}.timeout`]: timeout }));
    const open = { dataDir: directory.file("data"), environment: KEYS, settings };
    await using agents = await library.openCleverAgents(open);
    const actor = `${kind.provider}/${kind.model}`;
    expect((await agents.run("actor.run", { actor, prompt: "greet me" })).response).toBe("Hello.");
  }
});
