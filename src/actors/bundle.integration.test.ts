import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { ROOT } from "../cli/testing/agents.ts";
import type * as Library from "../index.ts";
import { callOf, KEYS, KINDS, modelServer, patience, settingsFor } from "./testing/model-world.ts";

/** Each provider is loaded when it is first asked; what a bundle does to it shows only then. */
test.each(KINDS)("$provider answers from the bundle, also for those with more patience than Node", async (kind) => {
  const library = (await import(pathToFileURL(join(ROOT, "dist/index.js")).href)) as typeof Library;
  await using server = await modelServer();
  server.onMessage("greet", { content: "Hello." });
  for (const timeout of ["60", "600"]) {
    const settings = settingsFor(server.url, { [`provider.${kind.provider}.timeout`]: timeout });
    const gateway = new library.ModelGateway({ settings, environment: KEYS, count: () => 1, patience: patience() });
    expect((await gateway.call(callOf(kind, "greet me"))).text).toBe("Hello.");
  }
});
