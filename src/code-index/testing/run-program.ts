/** `sync-program.ts` in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export class IndexProcess {
  readonly child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #output = "";
  #errors = "";

  constructor(what: "sync" | "read", home: string, options: { times?: number; uid?: number } = {}) {
    const { times = 1, uid } = options;
    const program = fileURLToPath(new URL("./sync-program.ts", import.meta.url));
    this.child = spawn(process.execPath, [program, what, home, String(times)], {
      stdio: ["ignore", "pipe", "pipe"],
      ...(uid === undefined ? {} : { uid, env: { ...process.env, HOME: home } }),
    });
    this.child.stdout?.on("data", (chunk: Buffer) => (this.#output += chunk.toString()));
    this.child.stderr?.on("data", (chunk: Buffer) => (this.#errors += chunk.toString()));
    this.#exited = once(this.child, "close");
  }

  /** Every line it wrote, once it has ended. Output on stderr is an error. */
  async lines(): Promise<Record<string, unknown>[]> {
    await this.#exited;
    if (this.child.signalCode === null && this.child.exitCode !== 0) throw new Error(this.#errors);
    const complete = this.#output.split("\n").slice(0, -1);
    return complete.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Waits until it has written so much. */
  async wrote(lines: number): Promise<void> {
    while (this.#output.split("\n").length <= lines && this.child.exitCode === null) {
      await Promise.race([once(this.child.stdout ?? this.child, "data"), this.#exited]);
    }
  }
}
