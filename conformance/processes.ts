/** What runs for a row of the table: everything that has the row's directory among its words, its variables or places. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const GONE_MS = 20_000;

function processesAt(directory: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    const about = [
      () => readFileSync(`/proc/${name}/cmdline`, "utf8"),
      () => readFileSync(`/proc/${name}/environ`, "utf8"),
      () => readlinkSync(`/proc/${name}/cwd`),
    ];
    return about.some((read) => textOf(read).includes(directory)) ? [Number(name)] : [];
  });
}

/** Whether nothing runs any more, after a while at most. */
export async function isQuietAt(directory: string): Promise<boolean> {
  const deadline = performance.now() + GONE_MS;
  while (processesAt(directory).length > 0 && performance.now() < deadline) await sleep(50);
  return processesAt(directory).length === 0;
}

export function endAllAt(directory: string): void {
  for (const pid of processesAt(directory)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    // It has ended, or belongs to another user.
    return "";
  }
}
