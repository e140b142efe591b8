/** Helpers for plans that run commands: with bubblewrap, with namespaces, and without any confinement. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { confinementHere } from "../../confinement/availability.ts";
import { definitionAnywhere } from "../../testing/profile-anywhere.ts";
import type { Agents } from "./agents.ts";

/**
 * The name of a profile for plans that run commands: `base` itself where commands can be confined, so that they are;
 * elsewhere a similar one that does not require it.
 */
export async function profileFor(agents: Agents, base = "supervised"): Promise<string> {
  if ((await confinementHere()).kind !== "none") return base;
  const definition = definitionAnywhere(base);
  agents.write("anywhere.yaml", JSON.stringify(definition));
  const { error } = await agents.json("automation-profile", "add", "--config", "anywhere.yaml");
  if (error !== undefined && error.code !== "ALREADY_EXISTS") throw new Error(error.message);
  return `local/${String(definition["name"])}`;
}

/** Lets the plans of a test run commands everywhere, unless they name a profile themselves. */
export async function allowCommands(agents: Agents): Promise<void> {
  const profile = await profileFor(agents);
  if (profile !== "supervised") agents.environment["CLEVERAGENTS_AUTOMATION_PROFILE"] = profile;
}

/** Takes every confinement away from the commands of this test. */
export function withoutConfinement(agents: Agents): void {
  agents.inOwnProcess({ PATH: unconfinedPath(agents.directory) });
}

/** A PATH with which nothing can confine commands; what is needed for that is written to the directory. */
export function unconfinedPath(below: string): string {
  const directory = join(below, "broken-programs");
  mkdirSync(directory, { recursive: true });
  for (const name of ["bwrap", "unshare", "sandbox-exec"]) {
    writeFileSync(join(directory, name), "#!/bin/sh\nexit 1\n");
    chmodSync(join(directory, name), 0o755);
  }
  return `${directory}${delimiter}${process.env["PATH"]}`;
}
