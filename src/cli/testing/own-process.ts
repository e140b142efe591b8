/**
 * One process with its own environment that carries out one command after another: for variables that the code, Node or
 * git read from the process itself (PATH, HOME, git's own), and for another owner of leases. To the test it is a
 * command line; it costs one start.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Finished } from "./agents.ts";
import type { ServedCall } from "./serve-commands.ts";

const PROGRAM = fileURLToPath(new URL("serve-commands.ts", import.meta.url));

export class OwnProcess implements Disposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(env: NodeJS.ProcessEnv) {
    this.#child = fork(PROGRAM, { env, execArgv: [] });
    this.#ended = once(this.#child, "exit");
  }

  /** One at a time: those of several callers wait for each other. */
  run(call: ServedCall): Promise<Finished> {
    const finished = this.#last.then(() => this.#send(call));
    this.#last = finished.catch(() => undefined);
    return finished;
  }

  async #send(call: ServedCall): Promise<Finished> {
    const answered = once(this.#child, "message");
    this.#child.send(call);
    const [answer] = (await Promise.race([answered, this.#ended])) as [Finished | number | null];
    if (answer === null || typeof answer === "number")
      throw new Error(`the process ended with ${answer}: ${call.args.join(" ")}`);
    return answer;
  }

  [Symbol.dispose](): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}
