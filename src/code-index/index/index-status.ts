import { existsSync, statSync } from "node:fs";
import { IndexDamagedError } from "../model/index-errors.ts";
import { indexReadError, isMarkedDamaged, openForReading } from "./index-database.ts";
import { gapsOf } from "./tree-record.ts";

/** The state of a tree as the index knows it, without reading its directory. */
export type IndexStatus =
  | { readonly is: "never indexed" }
  /** The next sync builds it again. */
  | { readonly is: "damaged" }
  | {
      readonly is: "indexed";
      readonly root: string;
      readonly generation: number;
      /** The time of the last sync of its directory, in milliseconds. */
      readonly syncedAt: number;
      readonly files: number;
      readonly gaps: number;
      /** Of the whole index, with its overlays, on disk. */
      readonly bytes: number;
      readonly overlays: readonly string[];
    };

/** @param overlay the name of a sandbox; the directory itself when left out. */
export function indexStatus(indexFile: string, overlay = ""): IndexStatus {
  if (existsSync(indexFile) && isMarkedDamaged(indexFile)) return { is: "damaged" };
  try {
    return statusOf(indexFile, overlay);
  } catch (error) {
    const meaning = indexReadError(indexFile, error);
    if (meaning instanceof IndexDamagedError) return { is: "damaged" };
    throw meaning;
  }
}

function statusOf(indexFile: string, overlay: string): IndexStatus {
  const database = openForReading(indexFile);
  if (database === undefined) return { is: "never indexed" };
  using _ = database;
  const tree = database
    .prepare(
      `SELECT id, root, generation, synced_at, (SELECT COUNT(content) FROM entries WHERE tree = trees.id) AS files
         FROM trees WHERE overlay = ? AND generation > 0`,
    )
    .get(overlay);
  if (tree === undefined) return { is: "never indexed" };
  const overlays = database.prepare("SELECT overlay FROM trees WHERE overlay <> '' ORDER BY overlay").all();
  return {
    is: "indexed",
    root: String(tree["root"]),
    generation: Number(tree["generation"]),
    syncedAt: Number(tree["synced_at"]),
    files: Number(tree["files"]),
    gaps: gapsOf(database, Number(tree["id"])).length,
    bytes: ["", "-wal"].reduce((sum, suffix) => sum + sizeOf(`${indexFile}${suffix}`), 0),
    overlays: overlays.map((row) => String(row["overlay"])),
  };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
