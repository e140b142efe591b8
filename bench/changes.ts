/**
 * The cost of recording: a file written through the tool pipeline, with its bytes and its author durable, beside a bare
 * write and fsync of the same bytes; a sandbox beside `git worktree add`; a plan's diff beside `git diff` of the same
 * change, and its apply beside `git merge`. Ours and the peer's run in turn, on the same disk, with the same files. And
 * whether a change costs more once many are recorded.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { applies } from "./changes/applies.ts";
import { diffs } from "./changes/diffs.ts";
import { sandboxes } from "./changes/sandboxes.ts";
import { type ChangesSize, git } from "./changes/world.ts";
import { growth, looks, writes } from "./changes/writes.ts";
import { type BenchSize, fileSystem, scratchDirectory } from "./measure.ts";

const SIZES: Readonly<Record<BenchSize, ChangesSize>> = {
  smoke: { rounds: 1, share: 0.1 },
  quick: { rounds: 5, share: 1 },
  full: { rounds: 11, share: 1 },
};

export async function run(options: { readonly dir: string; readonly size: BenchSize }): Promise<void> {
  await using scratch = await scratchDirectory(options.dir);
  console.log(`files in ${options.dir} (${await fileSystem(options.dir)}), ${await git(scratch.path, "--version")}`);
  for (const measure of [writes, growth, sandboxes, diffs, applies, looks]) {
    const dir = join(scratch.path, measure.name);
    await mkdir(dir);
    await measure(dir, SIZES[options.size]);
    await rm(dir, { recursive: true });
  }
}
