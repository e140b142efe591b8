/**
 * A program of this folder in a process of its own. Its acknowledgements go to a file, line by line, and survives its
 * death.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The variable that tells a program the id of the process that started it. */
const PARENT = "CLEVERAGENTS_TEST_PARENT";

export class Program implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #output: string;

  /** `output` is a file of its own for each program. */
  constructor(name: string, args: readonly string[], output: string) {
    const path = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
    const descriptor = openSync(output, "a");
    this.#output = output;
    this.#child = spawn(process.execPath, [path, ...args], {
      stdio: ["pipe", descriptor, "inherit"],
      env: { ...process.env, [PARENT]: String(process.pid) },
    });
    this.#exited = once(this.#child, "exit");
    closeSync(descriptor);
  }

  /** Lets a waiting program continue: it can be started long before it is needed. */
  go(): void {
    this.#child.stdin?.end();
  }

  kill(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  /** Ends when the program has; the exit code, or undefined when a signal ended it. */
  async exit(): Promise<number | undefined> {
    await this.#exited;
    return this.#child.exitCode ?? undefined;
  }

  /** Every complete line written so far. */
  lines<T>(): T[] {
    const complete = readFileSync(this.#output, "utf8").split("\n").slice(0, -1);
    return complete.map((line) => JSON.parse(line) as T);
  }

  /** Waits until at least `count` lines are there. */
  async written<T>(count: number): Promise<T[]> {
    for (;;) {
      const lines = this.lines<T>();
      if (lines.length >= count) return lines;
      if (this.#child.exitCode !== null) throw new Error(`The program ended after ${lines.length} lines.`);
      await sleep(3);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill("SIGKILL");
    await this.#exited;
  }
}

/**
 * A program whose test is gone ends itself: no other process would. The parent may be gone before the program has
 * loaded, so it is told which one it had.
 */
export function endWithParent(): void {
  const parent = Number(process.env[PARENT] ?? process.ppid);
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, 200).unref();
}

/** Blocks until the test says go. */
export function waitForGo(): void {
  readFileSync(0);
}

/**
 * Writes one line before it continues: a reader of the line knows that the step was acknowledged, even if the program
 * is killed next.
 */
export function tell(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
