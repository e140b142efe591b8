/**
 * A plan's changes as git would show them, made from what was recorded alone: the sandbox need not be there any more.
 */
import { isUtf8 } from "node:buffer";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileImage } from "../domain/plan/change-entry.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { countChanged, parsePatch } from "../domain/text/git-patch.ts";
import { shown } from "../domain/text/text.ts";
import type { ChangesetStore } from "../ledger/changesets.ts";
import { git } from "../git/git.ts";
import { GitPack } from "../git/git-pack.ts";
import { treesOf } from "../git/git-tree.ts";
import { targetChanges, type NetChange } from "./net-changes.ts";
import { PLAIN_ATTRIBUTES } from "../git/own-repository.ts";
import { isResolveStep, isReviewStep, type PlanChange } from "./plan-changes.ts";

export interface PlanDiff {
  readonly files: readonly ChangedFile[];
  /** Unified diff with renames found, as `git diff` prints it. */
  readonly patch: string;
  readonly insertions: number;
  readonly deletions: number;
}

interface ChangedFile {
  readonly resource: string;
  readonly path: string;
  readonly change: "added" | "deleted" | "modified" | "mode";
  /** The steps that changed it, in order. */
  readonly steps: readonly string[];
  /** The decisions that these steps carried out. */
  readonly decisions: readonly string[];
  readonly size: number;
}

/** A net change with the name it has in the patch. */
export interface ShownChange extends NetChange {
  readonly resource: string;
  readonly path: string;
  readonly shownAs: string;
  readonly steps: readonly string[];
  readonly decisions: readonly string[];
}

export async function diffChanges(changesets: ChangesetStore, entries: readonly PlanChange[]): Promise<PlanDiff> {
  const changes = shownChanges(entries);
  if (changes.length === 0) return { files: [], patch: "", insertions: 0, deletions: 0 };
  const scratch = await mkdtemp(join(tmpdir(), "cleveragents-diff-"));
  try {
    const { contents, trees } = await makeRepository(scratch, changes, changesets);
    const binary = (image: FileImage | undefined): boolean => image !== undefined && !factsOf(contents, image).text;
    const unprintable = changes.filter(({ before, after }) => binary(before) || binary(after));
    await writeFile(
      join(scratch, "info", "attributes"),
      [PLAIN_ATTRIBUTES, ...unprintable.map(({ shownAs }) => asBinary(shownAs))].join(""),
    );
    const patch = await compare(scratch, trees);
    const files = changes.map((change) => describe(change, contents));
    // Counted in the hunks: a second run of git would take as long as the first.
    return { files, patch, ...countChanged(parsePatch(patch).flatMap(({ hunks }) => hunks)) };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

export function shownChanges(entries: readonly PlanChange[]): ShownChange[] {
  const resources = Map.groupBy(entries, (entry) => entry.resource);
  return [...resources]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([resource, own]) => {
      const credits = creditsByPath(own);
      return [...targetChanges(own)].map(([path, change]) => ({
        ...change,
        resource,
        path,
        shownAs: resources.size === 1 ? path : `${resource}/${path}`,
        steps: [...(credits.get(path)?.steps ?? [])],
        decisions: [...(credits.get(path)?.decisions ?? [])],
      }));
    });
}

interface Credits {
  readonly steps: Set<string>;
  readonly decisions: Set<string>;
}

function creditsByPath(entries: readonly PlanChange[]): ReadonlyMap<string, Credits> {
  const credits = new Map<string, Credits>();
  for (const { path, fromPath, step, decision } of entries) {
    for (const one of fromPath === undefined ? [path] : [path, fromPath]) {
      const known = credits.get(one) ?? { steps: new Set(), decisions: new Set() };
      known.steps.add(isReviewStep(step) ? "review" : isResolveStep(step) ? "resolve" : step);
      if (decision !== undefined) known.decisions.add(decision);
      credits.set(one, known);
    }
  }
  return credits;
}

interface ContentFacts {
  /** Its name in the scratch repository. */
  readonly object: string;
  readonly size: number;
  readonly text: boolean;
}

/** A scratch repository that holds both sides as trees, bytes as they are. */
async function makeRepository(
  scratch: string,
  changes: readonly ShownChange[],
  changesets: ChangesetStore,
): Promise<{ contents: ReadonlyMap<string, ContentFacts>; trees: readonly [before: string, after: string] }> {
  for (const directory of ["objects", "refs", "info"]) mkdirSync(join(scratch, directory));
  writeFileSync(join(scratch, "HEAD"), "ref: refs/heads/none\n");
  const contents = await packContents(join(scratch, "objects"), changes, changesets);
  const sideOf = (side: "before" | "after"): ReturnType<typeof treesOf> =>
    treesOf(
      changes.flatMap(({ [side]: image, shownAs: path }) =>
        image === undefined ? [] : [{ path, mode: image.mode, object: factsOf(contents, image).object }],
      ),
    );
  const [before, after] = [sideOf("before"), sideOf("after")];
  const trees = new Map([...before.trees, ...after.trees]);
  using pack = new GitPack(join(scratch, "objects"), trees.size);
  for (const tree of trees.values()) pack.add("tree", tree);
  pack.finish();
  return { contents, trees: [before.top, after.top] };
}

async function packContents(
  directory: string,
  changes: readonly ShownChange[],
  changesets: ChangesetStore,
): Promise<ReadonlyMap<string, ContentFacts>> {
  const needed = new Map<string, string>();
  for (const { before, after, shownAs } of changes)
    for (const image of [before, after]) if (image !== undefined) needed.set(image.hash, shownAs);
  using pack = new GitPack(directory, needed.size);
  const facts = new Map<string, ContentFacts>();
  for await (const [hash, content] of changesets.contents([...needed.keys()]))
    facts.set(hash, { object: pack.add("blob", content), size: content.byteLength, text: isUtf8(content) });
  for (const [hash, path] of needed) {
    if (facts.has(hash)) continue;
    throw new AgentsError("tool_failed", `The content of ${shown(path)} was not recorded.`, { detail: { path } });
  }
  pack.finish();
  return facts;
}

/**
 * Text that is not UTF-8 would not survive in the patch, which is a string: its bytes are given as those of a binary
 * file.
 */
function asBinary(path: string): string {
  return `${JSON.stringify(`/${path.replaceAll(/[\\*?[]/g, "\\$&")}`)} -diff\n`;
}

/** The patch is one that `git apply` takes. */
async function compare(scratch: string, trees: readonly string[]): Promise<string> {
  const fixed = ["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"];
  const wanted = ["--find-renames", "--patch", "--binary"];
  // Quoted, a name with an umlaut could not be read.
  const plainNames = ["-c", "core.quotePath=false"];
  const { stdout } = await git([...plainNames, "--git-dir=.", "diff", ...fixed, ...wanted, ...trees, "--"], {
    cwd: scratch,
  });
  return stdout.toString("utf8");
}

function factsOf(contents: ReadonlyMap<string, ContentFacts>, { hash }: FileImage): ContentFacts {
  const facts = contents.get(hash);
  if (facts === undefined) throw new Error(`The content ${hash} was not read.`);
  return facts;
}

function describe(
  { resource, path, before, after, steps, decisions }: ShownChange,
  contents: ReadonlyMap<string, ContentFacts>,
): ChangedFile {
  const size = after === undefined ? 0 : factsOf(contents, after).size;
  const change =
    before === undefined ? "added" : after === undefined ? "deleted" : before.hash === after.hash ? "mode" : "modified";
  return { resource, path, change, steps, decisions, size };
}
