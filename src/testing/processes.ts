/** Looking at the processes of this machine: a confined command knows its own process ids by other numbers. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** How many processes have the word in their command line. */
export function running(word: string): number {
  const lines = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine);
  return lines.filter((line) => line.includes(word)).length;
}

/** Waits until none has it, but not for ever. */
export async function gone(word: string): Promise<boolean> {
  for (let attempt = 0; attempt < 300 && running(word) > 0; attempt += 1) await sleep(10);
  return running(word) === 0;
}

/** The number of seconds of a `sleep` that no other test has. */
export function uniqueSeconds(): string {
  return `${300 + Math.floor(Math.random() * 1000)}.${process.pid}${Math.floor(Math.random() * 1e6)}`;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
