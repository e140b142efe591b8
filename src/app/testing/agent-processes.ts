/** The processes of a plan's commands and agents: the sandbox is among their words or variables, or they work there. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Everything that has the directory among its words, its variables or places, besides this process. */
export function processesAt(directory: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    const about = [textOf(() => readFileSync(`/proc/${name}/environ`, "utf8")), commandLine(Number(name))];
    about.push(textOf(() => readlinkSync(`/proc/${name}/cwd`)));
    return about.some((text) => text.includes(directory)) ? [Number(name)] : [];
  });
}

export function commandLine(pid: number): string {
  return textOf(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    // It has ended meanwhile.
    return "";
  }
}

/** One that has ended by itself is fine. */
export function killNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    return;
  }
}
