/**
 * Removes from a tree, after a command, everything that would block or break the next reader, which is our git:
 * pipes, sockets and devices, which wait for a reader or a writer, and files deeper than a plan may name. Directories
 * that cannot be listed are opened. The `.git` at the top is the commands' own; our code never reads it.
 */
import { existsSync, rmSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { PATH_SEGMENTS } from "../../domain/plan/change-entry.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";
import { entriesOf, removeTree, unlock, within } from "../../platform/remove-tree.ts";

export async function sweep(root: string): Promise<{ readonly tooDeep: string | undefined }> {
  let tooDeep: string | undefined;
  let turned = performance.now();
  const waiting: { readonly directory: Buffer; readonly depth: number }[] = existsSync(root)
    ? [{ directory: Buffer.from(root), depth: 0 }]
    : [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (performance.now() - turned > TURN_MS) {
      await turn();
      turned = performance.now();
    }
    const { directory, depth } = next;
    unlock(directory);
    for (const entry of entriesOf(directory)) {
      if (entry.isFile() || entry.isSymbolicLink()) continue;
      if (depth === 0 && entry.name.equals(OWN)) continue;
      const place = within(directory, entry.name);
      if (!entry.isDirectory()) rmSync(place, { force: true });
      else if (depth + 1 < PATH_SEGMENTS && place.byteLength < LONGEST)
        waiting.push({ directory: place, depth: depth + 1 });
      else if (!isEmpty(place)) {
        tooDeep ??= place.subarray(Buffer.byteLength(root) + 1).toString("utf8");
        await removeTree(place);
      }
    }
  }
  return { tooDeep };
}

/** The same, for a command that is told when it went too far. */
export async function requireSwept(root: string): Promise<void> {
  const { tooDeep } = await sweep(root);
  if (tooDeep === undefined) return;
  throw new AgentsError(
    "tool_failed",
    `${shown(tooDeep, 80)} leads deeper than a plan can record: a path has at most ${PATH_SEGMENTS} segments and ${LONGEST} bytes.`,
    { detail: { segments: PATH_SEGMENTS, bytes: LONGEST } },
  );
}

/** Others get a turn this often. */
const TURN_MS = 10;

/** In bytes, with the directories above the tree: the system takes 4,096, and a name in it may have 255. */
const LONGEST = 3800;

const OWN = Buffer.from(".git");

function isEmpty(directory: Buffer): boolean {
  unlock(directory);
  return entriesOf(directory).length === 0;
}
