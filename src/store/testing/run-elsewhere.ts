/** Has commands of elsewhere.ts carried out by other threads and other processes. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import type { ElsewhereAnswer, ElsewhereCommand } from "./elsewhere.ts";

const ENTRY = new URL("./elsewhere.ts", import.meta.url);
const run = promisify(execFile);

export async function inThread(command: ElsewhereCommand): Promise<ElsewhereAnswer> {
  const worker = new Worker(ENTRY, { workerData: command });
  try {
    const [answer]: ElsewhereAnswer[] = await once(worker, "message");
    if (answer === undefined) throw new Error("The thread answered with nothing.");
    return answer;
  } finally {
    await worker.terminate();
  }
}

/** `via` is a command that starts another one, such as one that gives up privileges first. */
export async function inProcess(command: ElsewhereCommand, via: readonly string[] = []): Promise<ElsewhereAnswer> {
  const [program, ...words] = [...via, process.execPath, fileURLToPath(ENTRY), JSON.stringify(command)];
  const { stdout } = await run(program, words);
  return JSON.parse(stdout) as ElsewhereAnswer;
}

/**
 * The same in a mount namespace of its own that `mounts` (a shell script) has prepared, so that a really full or really
 * read-only file system can be had without touching the machine's. Undefined when this machine does not allow such
 * namespaces.
 */
export async function inNamespace(mounts: string, command: ElsewhereCommand): Promise<ElsewhereAnswer | undefined> {
  if (!(await namespacesWork())) return undefined;
  const script = `set -e; ${mounts}; exec "$0" "$1" "$2"`;
  const words = ["-rm", "sh", "-c", script, process.execPath, fileURLToPath(ENTRY), JSON.stringify(command)];
  const { stdout } = await run("unshare", words);
  return JSON.parse(stdout) as ElsewhereAnswer;
}

async function namespacesWork(): Promise<boolean> {
  try {
    await run("unshare", ["-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt || mount -t tmpfs tmpfs /tmp"]);
    return true;
  } catch {
    return false;
  }
}
