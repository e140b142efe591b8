/** The user's pager: which program it is, and how a text is shown in it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Environment } from "../../domain/values/environment.ts";

/**
 * As git chooses it: GIT_PAGER, then PAGER, then less. Undefined when the user wants none, or the terminal cannot show
 * one.
 */
export function pagerOf(environment: Environment): string | undefined {
  const command = environment["GIT_PAGER"] ?? environment["PAGER"] ?? "less";
  if (command.trim() === "" || command.trim() === "cat" || environment["TERM"] === "dumb") return undefined;
  return command;
}

/** The exit codes of a shell when it does not find a program, or may not run it. */
const NOT_STARTED = [126, 127];

/** As git sets it: less ends at once when all fits on the screen, lets colors through, and leaves the text there. */
const LESS = "FRX";

/** Ends when the user leaves the pager. Ctrl-C belongs to the pager while it runs. */
export async function startPager(command: string, text: string, environment: Environment): Promise<boolean> {
  const env = { LESS, LV: "-c", ...environment };
  const ignore = (): void => undefined;
  process.on("SIGINT", ignore);
  try {
    const pager = spawn("/bin/sh", ["-c", command], { stdio: ["pipe", "inherit", "inherit"], env });
    const ended = once(pager, "exit") as Promise<[number | null]>;
    // A pager that was left before it had read everything.
    pager.stdin.on("error", ignore);
    pager.stdin.end(text);
    const [code] = await ended;
    return code === null || !NOT_STARTED.includes(code);
  } catch {
    return false;
  } finally {
    process.off("SIGINT", ignore);
  }
}
