import { statSync } from "node:fs";
import type { FileFilter, IndexScope } from "../code-index/index-scope.ts";
import { indexFileFor } from "../code-index/index-file.ts";
import { syncIndex, type SyncProgress, type SyncResult } from "../code-index/sync-index.ts";
import {
  CONTEXT_VIEWS,
  DEFAULT_MAX_FILE_SIZE,
  resolveView,
  type ContextPolicy,
  type ResolvedView,
} from "../domain/context-policy.ts";
import { AgentsError } from "../domain/errors.ts";
import { rootedGlobs } from "../domain/glob.ts";
import { shown } from "../domain/text.ts";

/** The directories that context is taken from, and bringing their indexes up to date. */
export interface ContextPlace {
  /** What it is called: the alias of the resource. */
  readonly resource: string;
  /** The resource's own directory. The index belongs to it. */
  readonly root: string;
  /** A sandbox of it, to be seen instead. */
  readonly sandbox: SandboxPlace | undefined;
  readonly filter: FileFilter;
  /** Larger files are not even indexed. In bytes. */
  readonly indexedSize: number;
}

interface SandboxPlace {
  /** Of its tree in the index. */
  readonly name: string;
  /** Runs `look` while nothing changes the sandbox. */
  readonly reading: <T>(look: (root: string) => Promise<T>) => Promise<T>;
}

export interface IndexOptions {
  readonly dataDir: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((resource: string, progress: SyncProgress) => void) | undefined;
  readonly rebuild?: boolean;
}

export interface IndexedPlace {
  readonly place: ContextPlace;
  readonly indexFile: string;
  readonly result: SyncResult;
  readonly durationMs: number;
}

/** Looks at every place, one after another, because each takes all processors, and makes the scope of what was seen. */
export async function indexPlaces(
  places: readonly ContextPlace[],
  options: IndexOptions,
): Promise<{ readonly scope: IndexScope; readonly indexed: readonly IndexedPlace[] }> {
  for (const place of places) requireDirectory(place);
  const indexed: IndexedPlace[] = [];
  for (const place of places) indexed.push(await indexPlace(place, options));
  const trees = indexed.map(({ place, indexFile, result }) => ({
    resource: place.resource,
    index: indexFile,
    overlay: place.sandbox?.name ?? "",
    generation: result.generation,
    filter: place.filter,
  }));
  return { scope: { trees }, indexed };
}

async function indexPlace(place: ContextPlace, options: IndexOptions): Promise<IndexedPlace> {
  const { dataDir, signal, onProgress, rebuild = false } = options;
  const { root, sandbox, resource } = place;
  const started = performance.now();
  const indexFile = indexFileFor(dataDir, root);
  const common = {
    indexFile,
    root,
    rebuild,
    maxFileSize: place.indexedSize,
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress: (seen: SyncProgress) => onProgress(resource, seen) }),
  };
  const result =
    sandbox === undefined
      ? await syncIndex(common)
      : await sandbox.reading((tree) => syncIndex({ ...common, overlay: { name: sandbox.name, root: tree } }));
  return { place, indexFile, result, durationMs: performance.now() - started };
}

/** A directory that went away must not look like an empty one. */
function requireDirectory({ resource, root }: ContextPlace): void {
  const found = statSync(root, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  const what = found === undefined ? "is not there" : "is no directory";
  throw new AgentsError("not_found", `${shown(root, 200)}, which ${shown(resource)} stands for, ${what}.`, {
    kept: "Nothing was changed.",
    next: ["agents resource list"],
    detail: { resource, path: root },
  });
}

export function filterOf(view: ResolvedView): FileFilter {
  return { include: rootedGlobs(view.include), exclude: rootedGlobs(view.exclude), maxFileSize: view.maxFileSize };
}

/** The largest limit of any view: an index that was made for one view serves the others too. */
export function indexedSize(policy: ContextPolicy): number {
  const limits = CONTEXT_VIEWS.map((view) => resolveView(policy, view).maxFileSize ?? Number.MAX_SAFE_INTEGER);
  return Math.max(DEFAULT_MAX_FILE_SIZE, ...limits);
}
