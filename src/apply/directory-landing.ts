/** The landing of a change on a plain directory: a three-way merge of each file, with nothing touched. */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileImage } from "../domain/plan/change-entry.ts";
import { shown } from "../domain/text/text.ts";
import { git } from "../git/git.ts";
import { LINK } from "../platform/file-state.ts";
import { contentHash } from "../store/contents/contents.ts";
import { findWithout, missingDirectories, type Prepared } from "./git-landing.ts";
import { BOTH_SIDES, sameImage, type FileMove, type LandingConflict } from "../ledger/landing.ts";
import { imageOf } from "./user-tree.ts";

/**
 * A change to apply, path by path: each leads from `base` to `theirs`; the directory may hold something else by now.
 */
export interface DirectoryChange {
  readonly alias: string;
  readonly root: string;
  readonly files: ReadonlyMap<string, { readonly base: FileImage | undefined; readonly theirs: FileImage | undefined }>;
  /** Directories that stay even when nothing is left in them. */
  readonly kept: ReadonlySet<string>;
}

type ContentOf = (hash: string) => Promise<Uint8Array>;

export async function prepareDirectory(change: DirectoryChange, contentOf: ContentOf): Promise<Prepared> {
  const { alias, root } = change;
  const contents = new Map<string, Uint8Array>();
  if (!existsSync(root)) {
    return { conflicts: [{ resource: alias, path: undefined, why: `${shown(root, 300)} is gone` }], contents };
  }
  const conflicts: LandingConflict[] = [];
  const files: FileMove[] = [];
  const leaving = new Set([...change.files].filter(([, { theirs }]) => theirs === undefined).map(([path]) => path));
  const sides: ContentOf = async (hash) => contents.get(hash) ?? contentOf(hash);
  for (const [path, { base, theirs }] of change.files) {
    const complain = (why: string): void => void conflicts.push({ resource: alias, path, why });
    const found = findWithout(root, path, leaving);
    if (found === "obstacle") {
      complain("is in the way: a directory, or below a link");
      continue;
    }
    const now = imageOf(found);
    if (typeof found !== "string") contents.set(found.image.hash, found.content);
    const after = await mergeImages({ base, now, theirs }, sides, contents);
    if (after === "conflict") complain(BOTH_SIDES);
    else if (!sameImage(now, after)) files.push({ path, before: now, after });
  }
  if (conflicts.length > 0) return { conflicts, contents };
  for (const hash of new Set(files.flatMap(({ after }) => (after === undefined ? [] : [after.hash])))) {
    contents.set(hash, await sides(hash));
  }
  const newDirectories = missingDirectories(root, files);
  const landing = { alias, root, git: undefined, files, newDirectories, keptDirectories: [...change.kept] };
  return { landing, conflicts, contents };
}

/** Three-way merge of one file. A change that both sides made, or only one side, is taken; text merges by line. */
export async function mergeImages(
  images: {
    readonly base: FileImage | undefined;
    readonly now: FileImage | undefined;
    readonly theirs: FileImage | undefined;
  },
  contentOf: ContentOf,
  made: Map<string, Uint8Array>,
): Promise<FileImage | undefined | "conflict"> {
  const { base, now, theirs } = images;
  if (sameImage(now, base) || sameImage(now, theirs)) return theirs;
  if (sameImage(base, theirs)) return now;
  if (base === undefined || now === undefined || theirs === undefined) return "conflict";
  const mode = now.mode === base.mode ? theirs.mode : theirs.mode === base.mode ? now.mode : undefined;
  if (mode === undefined) return "conflict";
  if (now.hash === base.hash || now.hash === theirs.hash) return { hash: theirs.hash, mode };
  if (theirs.hash === base.hash) return { hash: now.hash, mode };
  if ([base, now, theirs].some((image) => image.mode === LINK)) return "conflict";
  const merged = await mergeText(await contentOf(now.hash), await contentOf(base.hash), await contentOf(theirs.hash));
  if (merged === undefined) return "conflict";
  const hash = contentHash(merged);
  made.set(hash, merged);
  return { hash, mode };
}

/** Undefined when both sides changed the same lines, or when it is not text. */
async function mergeText(now: Uint8Array, base: Uint8Array, theirs: Uint8Array): Promise<Uint8Array | undefined> {
  if ([now, base, theirs].some((content) => content.includes(0))) return undefined;
  const scratch = await mkdtemp(join(tmpdir(), "cleveragents-merge-"));
  try {
    for (const [name, content] of [
      ["now", now],
      ["base", base],
      ["theirs", theirs],
    ] as const) {
      await writeFile(join(scratch, name), content);
    }
    const accept = Array.from({ length: 128 }, (_, index) => index);
    const { code, stdout } = await git(["merge-file", "-p", "--quiet", "now", "base", "theirs"], {
      cwd: scratch,
      accept,
    });
    return code === 0 ? stdout : undefined;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
