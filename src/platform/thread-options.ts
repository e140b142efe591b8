import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import type { WorkerOptions } from "node:worker_threads";

/**
 * The options of all our threads.
 *
 * Not the flags of the process: some of them (`--input-type`) keep a thread from starting. But the process's cache of
 * compiled code, which a thread uses only if its environment says where it is.
 */
export function threadOptions(): Pick<WorkerOptions, "env" | "execArgv"> {
  const cache = getCompileCacheDir();
  // It is in a directory for this version of Node, which the thread appends itself.
  return {
    execArgv: [],
    ...(cache === undefined ? {} : { env: { ...process.env, NODE_COMPILE_CACHE: dirname(cache) } }),
  };
}
