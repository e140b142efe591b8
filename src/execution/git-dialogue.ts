import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { AgentsError } from "../domain/errors.ts";
import { spawnGit } from "./git.ts";
import type { GitPlace } from "./sandbox-facts.ts";
import { disarm } from "./sandbox-repository.ts";

/**
 * A git that stays and answers one question after another: starting one takes milliseconds, an answer of one that runs takes
 * microseconds. It reads its rules, settings and index when it begins, so it must be closed before anything may change those. When
 * this process dies, however it dies, its input ends and so does it.
 */
export interface Answers<T> {
  /** How many bytes the answer has that begins here; undefined while too little of it is there to tell. */
  readonly length: (head: Buffer) => number | undefined;
  readonly read: (answer: Buffer) => T;
}

interface Asked<T> {
  readonly resolve: (answer: T) => void;
  readonly reject: (error: unknown) => void;
}

export class GitDialogue<T> implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers: Answers<T>;
  readonly #asked: Asked<T>[] = [];
  readonly #ended: Promise<void>;
  #said: Buffer[] = [];
  #size = 0;
  /** Length of the answer that is coming in, as soon as it is known. */
  #expected: number | undefined;
  #failure: AgentsError | undefined;

  private constructor(child: ChildProcessWithoutNullStreams, answers: Answers<T>) {
    this.#child = child;
    this.#answers = answers;
    let complaint = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
    child.stdout.on("data", (chunk: Buffer) => this.#hear(chunk));
    // One that ends without reading everything is judged by its ending.
    child.stdin.on("error", () => undefined);
    this.#ended = new Promise((resolve) => {
      const end = (why: string): void => {
        this.#fail(why.trim().split("\n").at(-1) || "it ended early");
        resolve();
      };
      child.on("error", (error) => end(String(error)));
      child.on("close", () => end(complaint));
    });
  }

  static async start<T>(args: readonly string[], place: GitPlace, answers: Answers<T>): Promise<GitDialogue<T>> {
    if (place.sandbox) await disarm(place.cwd);
    return new GitDialogue(spawnGit(args, place), answers);
  }

  /** Answers come in the order of the questions. */
  ask(question: string): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#asked.push({ resolve, reject });
      this.#child.stdin.write(question);
    });
  }

  #hear(chunk: Buffer): void {
    this.#said.push(chunk);
    this.#size += chunk.byteLength;
    for (;;) {
      // Put together only when a whole answer is there: a large one comes in a thousand pieces.
      if (this.#expected === undefined) this.#expected = this.#answers.length(this.#together());
      if (this.#expected === undefined || this.#size < this.#expected) return;
      const all = this.#together();
      const answer = all.subarray(0, this.#expected);
      this.#said = [all.subarray(this.#expected)];
      this.#size -= this.#expected;
      this.#expected = undefined;
      this.#asked.shift()?.resolve(this.#answers.read(answer));
    }
  }

  #together(): Buffer {
    const all = this.#said.length === 1 ? this.#said[0] : undefined;
    if (all !== undefined) return all;
    const joined = Buffer.concat(this.#said);
    this.#said = [joined];
    return joined;
  }

  #fail(why: string): void {
    this.#failure = new AgentsError("git_failed", `git does not answer any more: ${why}`, {
      kept: "Nothing of yours was changed.",
    });
    for (const { reject } of this.#asked.splice(0)) reject(this.#failure);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }
}
