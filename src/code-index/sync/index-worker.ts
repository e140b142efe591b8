/**
 * Entry of the threads that read and parse files for a sync. A file's result is sent as soon as it is there, so the
 * main thread always knows which file a thread was working on when it hung or died.
 */
import { flushCompileCache } from "node:module";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { createAnalyzer } from "../languages/analyze.ts";
import { openForReading } from "../index/index-database.ts";
import { NameNumbers } from "../index/name-numbers.ts";
import { type FileResult, prepareFile } from "./prepare-content.ts";

export interface IndexWorkerData {
  readonly root: string;
  readonly indexFile: string;
  readonly maxFileSize: number;
}

export type IndexWorkerCommand = readonly string[];

/** "ready" first, then a result for each file. */
export type IndexWorkerMessage = "ready" | { readonly path: string; readonly result: FileResult };

if (parentPort !== null) void serve(parentPort, workerData);

async function serve(port: MessagePort, { root, indexFile, maxFileSize }: IndexWorkerData): Promise<void> {
  const analyzer = await createAnalyzer();
  const known = openForReading(indexFile)?.prepare("SELECT 1 FROM contents WHERE hash = ? AND language = ?");
  const preparing = {
    root,
    maxFileSize,
    analyzer,
    names: new NameNumbers(),
    isKnown: (hash: string, language: string) => known?.get(hash, language) !== undefined,
  };
  const waiting: string[] = [];
  let working = false;
  port.on("message", (paths: IndexWorkerCommand) => {
    waiting.push(...paths);
    if (!working) void work();
  });

  port.postMessage("ready" satisfies IndexWorkerMessage, []);

  async function work(): Promise<void> {
    working = true;
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      const message: IndexWorkerMessage = { path, result: await prepareFile(path, preparing) };
      port.postMessage(message, []);
    }
    working = false;
    flushCompileCache();
  }
}
