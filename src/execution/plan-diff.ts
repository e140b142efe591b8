import { isUtf8 } from "node:buffer";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChangeEntry, FileImage } from "../domain/change-entry.ts";
import { AgentsError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";
import type { ChangesetStore } from "../ledger/changesets.ts";
import { git, PLAIN_ATTRIBUTES } from "./git.ts";
import { netChanges, type NetChange } from "./net-changes.ts";

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
  readonly size: number;
}

/** A net change with the name it has in the patch. */
interface Change extends NetChange {
  readonly resource: string;
  readonly path: string;
  readonly shownAs: string;
  readonly steps: readonly string[];
}

export async function diffChanges(changesets: ChangesetStore, entries: readonly ChangeEntry[]): Promise<PlanDiff> {
  const changes = changesOf(entries);
  if (changes.length === 0) return { files: [], patch: "", insertions: 0, deletions: 0 };
  const scratch = await mkdtemp(join(tmpdir(), "cleveragents-diff-"));
  try {
    const contents = await importBoth(scratch, changes, changesets);
    const binary = (image: FileImage | undefined): boolean => image !== undefined && !sizeOf(contents, image).text;
    const unprintable = changes.filter(({ before, after }) => binary(before) || binary(after));
    await writeFile(
      join(scratch, "info", "attributes"),
      [PLAIN_ATTRIBUTES, ...unprintable.map(({ shownAs }) => asBinary(shownAs))].join(""),
    );
    const patch = await compare(scratch);
    const files = changes.map((change) => describe(change, contents));
    return { files, patch, ...countLines(patch) };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function changesOf(entries: readonly ChangeEntry[]): Change[] {
  const resources = Map.groupBy(entries, (entry) => entry.resource);
  return [...resources]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([resource, own]) => {
      const steps = stepsByPath(own);
      return [...netChanges(own)].map(([path, change]) => ({
        ...change,
        resource,
        path,
        shownAs: resources.size === 1 ? path : `${resource}/${path}`,
        steps: [...(steps.get(path) ?? [])],
      }));
    });
}

function stepsByPath(entries: readonly ChangeEntry[]): Map<string, Set<string>> {
  const steps = new Map<string, Set<string>>();
  for (const { path, fromPath, toolInvocation } of entries) {
    for (const one of fromPath === undefined ? [path] : [path, fromPath]) {
      const known = steps.get(one) ?? new Set();
      steps.set(one, toolInvocation === undefined ? known : known.add(toolInvocation));
    }
  }
  return steps;
}

interface ContentFacts {
  readonly size: number;
  readonly text: boolean;
}

/**
 * Makes a scratch repository with both sides as branches, in one process that is fed the bytes as they are: for a thousand files
 * that takes a third of the time of writing them and adding them. What speaks for keeping objects does not count here: nothing is
 * compressed, compared with each other or synced.
 */
async function importBoth(
  scratch: string,
  changes: readonly Change[],
  changesets: ChangesetStore,
): Promise<ReadonlyMap<string, ContentFacts>> {
  for (const directory of ["objects", "refs", "info"]) await mkdir(join(scratch, directory));
  await writeFile(join(scratch, "HEAD"), "ref: refs/heads/after\n");
  const contents = new Map<string, ContentFacts>();
  const settings = ["core.compression=0", "core.fsync=none", "fastimport.unpackLimit=1"];
  await git([...settings.flatMap((setting) => ["-c", setting]), "--git-dir=.", "fast-import", "--quiet", "--depth=0"], {
    cwd: scratch,
    input: importCommands(changes, changesets, contents),
  });
  return contents;
}

async function* importCommands(
  changes: readonly Change[],
  changesets: ChangesetStore,
  contents: Map<string, ContentFacts>,
): AsyncGenerator<string | Uint8Array> {
  const marks = new Map<string, number>();
  for (const { before, after, shownAs } of changes) {
    for (const image of [before, after]) {
      if (image === undefined || marks.has(image.hash)) continue;
      const content = await changesets.content(image.hash);
      if (content === undefined) {
        throw new AgentsError("tool_failed", `The content of ${shown(shownAs)} was not recorded.`, {
          detail: { path: shownAs },
        });
      }
      marks.set(image.hash, marks.size + 1);
      contents.set(image.hash, { size: content.byteLength, text: isUtf8(content) });
      yield `blob\nmark :${marks.size}\ndata ${content.byteLength}\n`;
      yield content;
      yield "\n";
    }
  }
  for (const side of ["before", "after"] as const) {
    const lines = changes.flatMap(({ [side]: image, shownAs }) =>
      image === undefined ? [] : [`M ${image.mode.toString(8)} :${marks.get(image.hash)} ${quoted(shownAs)}\n`],
    );
    yield `commit refs/heads/${side}\ncommitter cleveragents <> 0 +0000\ndata 0\n${lines.join("")}\n`;
  }
}

function quoted(path: string): string {
  return `"${path.replaceAll(/["\\]/g, "\\$&")}"`;
}

/** Text that is no UTF-8 would not survive in the patch, which is a string: its bytes are given as those of a binary file. */
function asBinary(path: string): string {
  return `${JSON.stringify(`/${path.replaceAll(/[\\*?[]/g, "\\$&")}`)} -diff\n`;
}

/** The patch is one that `git apply` takes. */
async function compare(scratch: string): Promise<string> {
  const fixed = ["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"];
  const wanted = ["--find-renames", "--patch", "--binary"];
  const { stdout } = await git(
    ["--git-dir=.", "diff", ...fixed, ...wanted, "refs/heads/before", "refs/heads/after", "--"],
    { cwd: scratch },
  );
  return stdout.toString("utf8");
}

/** Counted in the hunks, whose headers say how many lines they have: a second run of git would take as long as the first. */
export function countLines(patch: string): { insertions: number; deletions: number } {
  let [insertions, deletions] = [0, 0];
  let [old, now] = [0, 0];
  for (const line of patch.split("\n")) {
    if (old === 0 && now === 0) {
      const header = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
      if (header !== null) [old, now] = [Number(header[1] ?? 1), Number(header[2] ?? 1)];
      continue;
    }
    if (line.startsWith("+")) {
      insertions += 1;
      now -= 1;
    } else if (line.startsWith("-")) {
      deletions += 1;
      old -= 1;
    } else if (!line.startsWith("\\")) {
      old -= 1;
      now -= 1;
    }
  }
  return { insertions, deletions };
}

function sizeOf(contents: ReadonlyMap<string, ContentFacts>, { hash }: FileImage): ContentFacts {
  return contents.get(hash) ?? { size: 0, text: true };
}

function describe(
  { resource, path, before, after, steps }: Change,
  contents: ReadonlyMap<string, ContentFacts>,
): ChangedFile {
  const size = after === undefined ? 0 : sizeOf(contents, after).size;
  const change =
    before === undefined ? "added" : after === undefined ? "deleted" : before.hash === after.hash ? "mode" : "modified";
  return { resource, path, change, steps, size };
}
