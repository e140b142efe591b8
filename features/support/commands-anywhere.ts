import { Before } from "@cucumber/cucumber";
import { allowCommands } from "../../src/cli/testing/confinement.ts";
import type { CommandWorld } from "./command-world.ts";

// Scenarios whose plans run commands hold also where nothing can confine them.
Before({ tags: "@commands" }, async function (this: CommandWorld) {
  await allowCommands(this.agents);
});
