import { isUtf8 } from "node:buffer";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentsError } from "../domain/errors.ts";
import type { ChangesetStore } from "../ledger/changesets.ts";
import { writeState } from "./file-state.ts";
import { git, gitText, PLAIN_ATTRIBUTES } from "./git.ts";
import { netChanges, type NetChange } from "./net-changes.ts";
import type { PlanChange } from "./step-runner.ts";

/** A plan's changes as git would show them, made from what was recorded alone: the sandbox need not be there any more. */
export interface PlanDiff {
  readonly files: readonly ChangedFile[];
  /** Unified diff with renames found, as `git diff` prints it. */
  readonly patch: string;
  readonly insertions: number;
  readonly deletions: number;
}

export interface ChangedFile {
  readonly resource: string;
  readonly path: string;
  readonly change: "added" | "deleted" | "modified" | "mode";
  /** The steps that changed it, in order. */
  readonly steps: readonly string[];
  /** What these steps carried out. */
  readonly decisions: readonly string[];
  readonly size: number;
}

export async function diffChanges(changesets: ChangesetStore, entries: readonly PlanChange[]): Promise<PlanDiff> {
  const resources = [...new Set(entries.map((entry) => entry.resource))].sort();
  const scratch = await mkdtemp(join(tmpdir(), "cleveragents-diff-"));
  try {
    await mkdir(join(scratch, "a"));
    await mkdir(join(scratch, "b"));
    const files: ChangedFile[] = [];
    const unprintable = new Set<string>();
    for (const resource of resources) {
      const own = entries.filter((entry) => entry.resource === resource);
      for (const [path, change] of netChanges(own)) {
        const shownAs = resources.length === 1 ? path : `${resource}/${path}`;
        const old = await place(changesets, join(scratch, "a"), shownAs, change.before);
        const now = await place(changesets, join(scratch, "b"), shownAs, change.after);
        if (!isUtf8(old) || !isUtf8(now)) unprintable.add(shownAs);
        files.push(await describe(changesets, resource, path, change, own));
      }
    }
    const trees = await treesIn(scratch, unprintable);
    const patch = (await compare(["--patch", "--binary"], scratch, trees)).toString("utf8");
    const counts = (await compare(["--numstat", "-z"], scratch, trees)).toString("utf8").matchAll(/(\d+)\t(\d+)\t/g);
    const sums = [...counts].reduce(
      (sum, [, added, removed]) => ({
        insertions: sum.insertions + Number(added),
        deletions: sum.deletions + Number(removed),
      }),
      { insertions: 0, deletions: 0 },
    );
    return { files, patch, ...sums };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Both sides as git trees of a scratch repository: bytes as they are, and the patch is one that `git apply` takes. */
async function treesIn(scratch: string, unprintable: ReadonlySet<string>): Promise<[before: string, after: string]> {
  await git(["init", "--quiet", "--bare", "--template=", "repository"], { cwd: scratch });
  await mkdir(join(scratch, "repository", "info"));
  await writeFile(
    join(scratch, "repository", "info", "attributes"),
    [PLAIN_ATTRIBUTES, ...[...unprintable].map(asBinary)].join(""),
  );
  return [await treeOf(scratch, "a"), await treeOf(scratch, "b")];
}

/** Text that is no UTF-8 would not survive in the patch, which is a string: its bytes are given as those of a binary file. */
function asBinary(path: string): string {
  return `${JSON.stringify(`/${path.replaceAll(/[\\*?[]/g, "\\$&")}`)} -diff\n`;
}

async function treeOf(scratch: string, side: "a" | "b"): Promise<string> {
  const at = { cwd: join(scratch, side) };
  const own = ["--git-dir=../repository", "--work-tree=."];
  await git([...own, "add", "--all", "--force", "."], at);
  return gitText([...own, "write-tree"], at);
}

async function compare(options: readonly string[], scratch: string, trees: readonly string[]): Promise<Buffer> {
  const fixed = [
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
  ];
  const { stdout } = await git(["diff", ...fixed, ...options, ...trees], { cwd: join(scratch, "repository") });
  return stdout;
}

async function place(
  changesets: ChangesetStore,
  root: string,
  path: string,
  image: NetChange["after"],
): Promise<Uint8Array> {
  if (image === undefined) return new Uint8Array();
  const content = await changesets.content(image.hash);
  if (content === undefined)
    throw new AgentsError("tool_failed", `The content of ${path} was not recorded.`, { detail: { path } });
  await writeState(root, path, { content, mode: image.mode });
  return content;
}

async function describe(
  changesets: ChangesetStore,
  resource: string,
  path: string,
  { before, after }: NetChange,
  entries: readonly PlanChange[],
): Promise<ChangedFile> {
  const own = entries.filter((entry) => entry.path === path || entry.fromPath === path);
  const steps = new Set(own.map((entry) => entry.step));
  const decisions = new Set(own.flatMap((entry) => entry.decision ?? []));
  const size = after === undefined ? 0 : ((await changesets.content(after.hash))?.byteLength ?? 0);
  const change =
    before === undefined ? "added" : after === undefined ? "deleted" : before.hash === after.hash ? "mode" : "modified";
  return { resource, path, change, steps: [...steps], decisions: [...decisions], size };
}
