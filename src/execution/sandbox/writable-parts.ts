/**
 * The directories of a tree that a command may write although the tree is read-only for it: they hold nothing of the
 * plan, so it does not matter which command writes there. The commands' own repository is one of them.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../git/git.ts";
import { gitIn, isVersioned } from "./sandbox-facts.ts";
import type { Sandbox } from "./sandbox.ts";

const LISTING = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];

/** `isOfPlan`: whether the plan has files below a directory although git ignores it. */
export async function writableParts(
  sandbox: Sandbox,
  isOfPlan: (directory: string) => boolean,
): Promise<readonly string[]> {
  const { root } = sandbox;
  if (!isVersioned(sandbox)) return [];
  const { stdout } = await git(LISTING, gitIn(sandbox));
  const listed = stdout.toString("utf8").split("\0");
  const directories = listed.filter((entry) => entry.endsWith("/")).map((entry) => entry.slice(0, -1));
  const kept = directories.filter((directory) => !isOfPlan(directory));
  return [".git", ...kept].map((path) => join(root, path)).filter((path) => existsSync(path));
}
