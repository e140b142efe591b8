/**
 * A test and the commands of a plan reach each other through the home that commands have beside their tree. It is the
 * one place that both can write under every kind of confinement, and it is not part of the plan. Commands name it
 * `$HOME`.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export class SandboxHome {
  readonly #directory: string;

  /** `dataDir`: of the program; `sandboxes` is below it. */
  constructor(dataDir: string, planId: string, where: { readonly alias?: string; readonly attempt?: number } = {}) {
    const { alias = "api", attempt = 1 } = where;
    this.#directory = join(dataDir, "sandboxes", planId, `${attempt}`, alias, "home");
  }

  has(name: string): boolean {
    return existsSync(join(this.#directory, name));
  }

  /** The text that commands wrote there so far. */
  read(name: string): string {
    return this.has(name) ? readFileSync(join(this.#directory, name), "utf8") : "";
  }

  /** For a command that waits for it. The sandbox must have been made. */
  write(name: string, text = ""): void {
    mkdirSync(this.#directory, { recursive: true });
    writeFileSync(join(this.#directory, name), text);
  }

  /** Until a command of the sandbox wrote it. */
  async until(name: string): Promise<void> {
    while (!this.has(name)) await sleep(20);
  }
}
