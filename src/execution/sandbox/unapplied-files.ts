/**
 * A file or directory in a plan's sandbox that is not part of the plan: ignored by git, left by a command as junk, or
 * in a submodule. A directory ends with "/".
 */
import { lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ChangeEntry } from "../../domain/plan/change-entry.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { BaseContent } from "./base-content.ts";
import { ifCode } from "../../platform/contained-path.ts";
import { git } from "../../git/git.ts";
import { sandboxesOf } from "./sandbox-inventory.ts";
import { netChanges } from "../../changes/net-changes.ts";
import { gitIn } from "./sandbox-facts.ts";
import type { Sandbox } from "./sandbox.ts";

export interface LeftOut {
  readonly resource: string;
  readonly path: string;
}

/**
 * The files that the plan's commands made in its sandboxes and that will not be applied. A sandbox begins without any
 * such file, so the plan made every one that is there. Undefined while the plan is executed, because listing would
 * disturb a running command, and when a sandbox is damaged: showing a plan must not fail for that.
 */
export async function leftOut(
  directory: string,
  plan: Plan,
  changes: readonly ChangeEntry[],
): Promise<LeftOut[] | undefined> {
  if (plan.phase === "execute" && plan.state === "processing") return undefined;
  const found: LeftOut[] = [];
  try {
    for (const sandbox of await sandboxesOf(directory, plan)) {
      const { alias: resource } = sandbox;
      const own = netChanges(changes.filter((entry) => entry.resource === resource));
      for (const path of await leftOutOf(sandbox, [...own.keys()])) found.push({ resource, path });
    }
  } catch (error) {
    if (error instanceof AgentsError && error.code === "git_failed") return undefined;
    throw error;
  }
  return found;
}

async function leftOutOf(sandbox: Sandbox, changed: readonly string[]): Promise<string[]> {
  if (sandbox.base === undefined) return [];
  const { files, submodules } = await new BaseContent(sandbox).listing();
  const part = new Set([...files.keys(), ...changed]);
  const above = directoriesAbove(part);
  // A directory of which nothing is part of the plan is named as one: there may be a hundred thousand files in it.
  // An empty one is where dependencies of the user's were shown to commands.
  const ignored = await ignoredIn(sandbox, ["--directory", "--no-empty-directory"]);
  const mixed = ignored.filter((path) => above.has(path));
  const inMixed = mixed.length === 0 ? [] : await ignoredIn(sandbox, ["--", ...mixed.map((path) => `./${path}`)]);
  const all = [...ignored.filter((path) => !above.has(path)), ...inMixed];
  for (const path of submodules) if (await isFilled(join(sandbox.root, path))) all.push(`${path}/`);
  return all.filter((path) => !part.has(path)).sort();
}

function directoriesAbove(paths: Iterable<string>): ReadonlySet<string> {
  const above = new Set<string>();
  for (const path of paths) {
    for (
      let directory = dirname(path);
      directory !== "." && !above.has(`${directory}/`);
      directory = dirname(directory)
    )
      above.add(`${directory}/`);
  }
  return above;
}

async function ignoredIn(sandbox: Sandbox, options: readonly string[]): Promise<string[]> {
  const listing = ["--literal-pathspecs", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", ...options];
  const { stdout } = await git(listing, gitIn(sandbox));
  return stdout.toString("utf8").split("\0").slice(0, -1);
}

async function isFilled(directory: string): Promise<boolean> {
  const found = await lstat(directory).catch(ifCode("ENOENT"));
  return found?.isDirectory() === true && (await readdir(directory)).length > 0;
}
