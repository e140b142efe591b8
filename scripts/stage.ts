import { spawn } from "node:child_process";
import type { Readable } from "node:stream";

export interface Stage {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /**
   * Shows the output line by line while it comes. Without it the output appears in one piece when the stage ends, so
   * that stages which run side by side stay readable.
   */
  readonly live?: boolean;
}

/** Runs a command to its end with its output shown; true when it succeeded. */
export async function stage({ name, command, environment = {}, live = false }: Stage): Promise<boolean> {
  console.log(`── ${name}: ${command.join(" ")}`);
  const started = performance.now();
  const held: string[] = [];
  const tell = live ? write : (text: string) => void held.push(text);
  const code = await ended(command, environment, tell);
  const seconds = Math.round((performance.now() - started) / 1000);
  const verdict = code === 0 ? "ok" : `failed (${code})`;
  write(`${held.join("")}── ${name}: ${verdict} after ${seconds} s\n`);
  return code === 0;
}

function write(text: string): void {
  process.stdout.write(text);
}

function ended(
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
  tell: (text: string) => void,
): Promise<number | string> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  wholeLines(child.stdout, tell);
  wholeLines(child.stderr, tell);
  return new Promise((resolve, reject) => {
    child.on("close", (code, signal) => resolve(code ?? signal ?? "no exit code"));
    child.on("error", reject);
  });
}

/** Passes on whole lines only: what another stage writes in between then never cuts a line in two. */
function wholeLines(stream: Readable, tell: (text: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) tell(rest + text.slice(0, end));
    rest = end > 0 ? text.slice(end) : rest + text;
  });
  stream.on("end", () => rest !== "" && tell(`${rest}\n`));
}
