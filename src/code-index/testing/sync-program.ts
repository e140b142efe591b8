/**
 * A process that syncs, or reads, over and over: `sync|read <home> <times>`. It prints one line for each time, with the
 * tree it saw.
 */
import { writeSync } from "node:fs";
import { indexFileFor } from "../index/index-database.ts";
import { IndexMovedError } from "../model/index-errors.ts";
import { indexStatus } from "../index/index-status.ts";
import { openScopedIndex } from "../search/open-scoped-index.ts";
import { syncIndex } from "../sync/sync-index.ts";

const [, , what = "", home = "", times = "1"] = process.argv;
const root = `${home}/root`;
const indexFile = indexFileFor(`${home}/data`, root);

for (let time = 0; time < Number(times); time += 1) {
  const line = what === "sync" ? await sync() : read();
  writeSync(1, `${JSON.stringify(line)}\n`);
}

async function sync(): Promise<unknown> {
  const onProgress = ({ done }: { done: number }): void => void writeSync(1, `${JSON.stringify({ done })}\n`);
  return syncIndex({ indexFile, root, ...(times === "1" ? { onProgress } : {}) });
}

/** Every file says in which edition it was written; a tree has one edition only. */
function read(): unknown {
  const status = indexStatus(indexFile);
  if (status.is !== "indexed") return status;
  const filter = { include: ["*.txt"], exclude: [], maxFileSize: undefined };
  const tree = { resource: "app", index: indexFile, overlay: "", generation: status.generation, filter };
  try {
    using index = openScopedIndex({ trees: [tree] });
    const editions = new Set(index.files().map((file) => index.text(file)));
    const found = index.searchText([...editions], 1_000).length;
    return { is: "read", files: index.files().length, editions: [...editions], found };
  } catch (error) {
    if (error instanceof IndexMovedError) return { is: "moved" };
    throw error;
  }
}
