/**
 * Makes the layers through which a command sees the user's directories. The first that works: a writable layer over
 * the directory, which takes no time and no space for what is only read; a copy that shares its blocks; and without
 * either, the directory read-only, or for the output of builds, which is of no use then, a plain copy. They lie beside
 * the tree, so nothing of them is ever compared, recorded or applied, also when git's rules change.
 */
import { constants, existsSync, lstatSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { copyFile, readdir, rename, rm } from "node:fs/promises";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { Layer } from "../../../confinement/mounts.ts";
import { SECRET_FILES } from "../../../confinement/tool-directories.ts";
import { ifCode } from "../../../platform/contained-path.ts";
import { removeTree } from "../../../platform/remove-tree.ts";
import { copyDirectory } from "../../../platform/directory-copy.ts";
import type { IgnoredPart } from "./ignored-parts.ts";

export interface LayerPlace {
  /** Where the command sees it. */
  readonly path: string;
  readonly source: string;
  readonly kind: IgnoredPart["kind"] | "cache";
}

/** A plain copy takes time and space: builds with more than this do not come along. */
const COPY_LIMIT = { files: 20_000, bytes: 512 * 1024 * 1024 } as const;
/** Directories are looked through for files that hold keys up to this many entries; no more is shown. */
const ENTRIES = 200_000;

export type Made = { readonly layer: Layer } | { readonly why: string };

/** `home`: of the sandbox; `overlays`: whether commands can have a writable layer over a directory. */
export async function makeLayer(home: string, place: LayerPlace, overlays: boolean): Promise<Made> {
  const { path, source, kind } = place;
  if (kind === "file") return { layer: { kind: "read", path, source, blank: [] } };
  const measured = kind === "build" ? await measure(source) : { files: 0, bytes: 0, secrets: secretsAtTop(source) };
  if (measured === undefined) return { why: `it has more than ${ENTRIES.toLocaleString("en-US")} files` };
  const own = join(home, "layers", createHash("sha256").update(path).digest("hex").slice(0, 16));
  if (overlays) return { layer: overlay(own, place, measured.secrets) };
  if (kind === "cache") return { layer: { kind: "read", path, source, blank: measured.secrets } };
  if (await sharesBlocks(home, source)) return { layer: await copied(own, place, measured.secrets) };
  if (kind === "dependencies") return { layer: { kind: "read", path, source, blank: measured.secrets } };
  if (measured.files > COPY_LIMIT.files || measured.bytes > COPY_LIMIT.bytes)
    return { why: "it is too large to be copied, and nothing here can lay a writable layer over it" };
  return { layer: await copied(own, place, measured.secrets) };
}

/** An empty file above each one that holds keys hides it. */
function overlay(own: string, { path, source }: LayerPlace, secrets: readonly string[]): Layer {
  const [upper, work] = [join(own, "upper"), join(own, "work")];
  const fresh = !existsSync(upper);
  for (const directory of [upper, work]) mkdirSync(directory, { recursive: true });
  for (const name of fresh ? secrets : []) {
    mkdirSync(dirname(join(upper, name)), { recursive: true });
    writeFileSync(join(upper, name), "");
  }
  return { kind: "overlay", path, lower: source, upper, work };
}

/** Whole or not at all: it is used again when the sandbox is opened again. */
async function copied(own: string, { path, source }: LayerPlace, secrets: readonly string[]): Promise<Layer> {
  const copy = join(own, "copy");
  if (!existsSync(copy)) {
    await removeTree(`${copy}.tmp`);
    mkdirSync(`${copy}.tmp`, { recursive: true });
    await copyDirectory(source, `${copy}.tmp`);
    for (const name of secrets) await rm(join(`${copy}.tmp`, name), { force: true });
    await rename(`${copy}.tmp`, copy);
  }
  return { kind: "write", path, source: copy };
}

/** Only within one file system, and only where it can. */
async function sharesBlocks(home: string, source: string): Promise<boolean> {
  if (statSync(home).dev !== statSync(source).dev) return false;
  const [from, to] = [join(home, "blocks"), join(home, "blocks.copy")];
  try {
    writeFileSync(from, "shared");
    await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  } finally {
    for (const file of [from, to]) await rm(file, { force: true });
  }
}

interface Measured {
  readonly files: number;
  readonly bytes: number;
  /** Files that hold keys, from the top of the directory. */
  readonly secrets: readonly string[];
}

/** Undefined when there is too much of it to look through. */
async function measure(directory: string): Promise<Measured | undefined> {
  let [files, bytes] = [0, 0];
  const secrets: string[] = [];
  const waiting = [""];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    // A directory that cannot be listed cannot be read by a command either.
    const entries = await readdir(join(directory, below), { withFileTypes: true }).catch(ifCode("EACCES", "ENOENT"));
    for (const entry of entries ?? []) {
      files += 1;
      if (files > ENTRIES) return undefined;
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile()) {
        bytes += lstatSync(join(directory, path), { throwIfNoEntry: false })?.size ?? 0;
        if (isSecretFile(entry.name)) secrets.push(path);
      }
    }
  }
  return { files, bytes, secrets };
}

/** Packages from a registry hold no keys of the user's: only what may have been put beside them is hidden. */
function secretsAtTop(directory: string): string[] {
  return SECRET_FILES.filter((name) => lstatSync(join(directory, name), { throwIfNoEntry: false })?.isFile() === true);
}

/** `.env` and its relatives; examples of them hold nothing. */
function isSecretFile(name: string): boolean {
  if (/^\.env(?:\..+)?$/.test(name)) return !/\.(?:example|sample|template|dist|defaults)$/.test(name);
  return SECRET_FILES.includes(name);
}
