import { statSync } from "node:fs";
import { indexFileFor } from "../../code-index/index/index-database.ts";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { syncIndex, type SyncProgress, type SyncResult } from "../../code-index/sync/sync-index.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { shown } from "../../domain/text/text.ts";
import type { ContextPlace } from "./context-places.ts";

/** Brings the indexes of places up to date. */
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

/** Indexes every place, one after another, because each takes all processors, and makes the scope of the result. */
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
      : await sandbox.reading((tree) => syncIndex({ ...common, overlay: { name: sandbox.name, ...tree } }));
  return { place, indexFile, result, durationMs: performance.now() - started };
}

/** A directory that was removed must not look like an empty one. */
function requireDirectory({ resource, root }: ContextPlace): void {
  const found = statSync(root, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  const what = found === undefined ? "does not exist" : "is not a directory";
  throw new AgentsError("not_found", `The path ${shown(root, 200)} of ${shown(resource)} ${what}.`, {
    kept: "Nothing was changed.",
    next: [nextStep("resource.list")],
    detail: { resource, path: root },
  });
}
