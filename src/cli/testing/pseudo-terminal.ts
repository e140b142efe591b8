/** A terminal for tests, by `script` of util-linux, which practically every Linux has. */
import { spawnSync } from "node:child_process";
import type { Started } from "./agents.ts";

/** Why there can be none here; undefined when there can. */
export function noTerminal(): string | undefined {
  const { stdout, error } = spawnSync("script", ["--version"], { encoding: "utf8" });
  if (error === undefined && stdout.includes("util-linux")) return undefined;
  return "this machine has no `script` of util-linux, which makes terminals";
}

export function onTerminal(words: readonly string[], size: { columns: number; rows: number }): string[] {
  const command = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const sized = `stty cols ${size.columns} rows ${size.rows}; exec ${command}`;
  return ["script", "--quiet", "--return", "--command", sized, "/dev/null"];
}

/** A person in front of a command that runs on a terminal. */
export class Person {
  readonly #started: Started;
  #seen = "";
  #waiting: (() => void)[] = [];

  constructor(started: Started) {
    this.#started = started;
    started.child.stdout.on("data", (text: string) => {
      this.#seen += text;
      for (const look of this.#waiting) look();
    });
  }

  get seen(): string {
    return this.#seen;
  }

  type(keys: string): void {
    this.#started.child.stdin.write(keys);
  }

  /** Until something is on the screen, behind what was seen `before`; an error when the command ends without. */
  async sees(text: string, before = 0): Promise<void> {
    const found = new Promise<true>((resolve) => {
      const look = (): void => {
        if (this.#seen.includes(text, before)) resolve(true);
      };
      this.#waiting.push(look);
      look();
    });
    if ((await Promise.race([found, this.#started.finished])) === true) return;
    throw new Error(`never seen: ${text}\n${this.#seen}`);
  }

  /** The exit code. */
  async end(): Promise<number | null> {
    const { code } = await this.#started.finished;
    return code;
  }
}
