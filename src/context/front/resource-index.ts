/** The index of a removed resource. It holds the texts of the resource's files, so it goes with the resource. */
import { realpathSync } from "node:fs";
import { removeIndex, indexFileOf } from "../../code-index/index/index-database.ts";

/**
 * Removes the index of a directory, unless another resource has the same directory.
 *
 * @param others the directories of all other resources.
 */
export async function removeResourceIndex(
  dataDir: string,
  directory: string,
  others: readonly string[],
): Promise<void> {
  const real = realPathOf(directory);
  if (others.some((other) => realPathOf(other) === real)) return;
  await removeIndex(indexFileOf(dataDir, real));
}

/** The path itself when the directory does not exist any more. */
function realPathOf(directory: string): string {
  try {
    return realpathSync.native(directory);
  } catch {
    return directory;
  }
}
