/**
 * A git that stays and answers one question after another: to start one takes milliseconds, an answer of a running one
 * takes microseconds. It reads its rules, settings and index when it begins, so it must be closed before anything may
 * change those. When this process dies, in whichever way, git's input ends, and so does git.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { AgentsError } from "../domain/errors/errors.ts";
import { LISTING_MS, spawnGit } from "./git.ts";
import { endGroup } from "../platform/process-group.ts";
import type { GitPlace } from "./own-repository.ts";

export interface Answers<T> {
  /** The length in bytes of the answer that begins here; undefined while too little of it has arrived to tell. */
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
  /** The length of the answer that is arriving, as soon as it is known. */
  #expected: number | undefined;
  #failure: AgentsError | undefined;
  readonly #patienceMs: number;
  /** Runs while an answer is expected. */
  #timer: NodeJS.Timeout | undefined;

  private constructor(child: ChildProcessWithoutNullStreams, answers: Answers<T>, patienceMs: number) {
    this.#child = child;
    this.#answers = answers;
    this.#patienceMs = patienceMs;
    let complaint = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
    child.stdout.on("data", (chunk: Buffer) => this.#hear(chunk));
    // A git that ends without reading everything is judged by its end.
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

  static async start<T>(
    args: readonly string[],
    place: GitPlace,
    answers: Answers<T>,
    patienceMs = LISTING_MS,
  ): Promise<GitDialogue<T>> {
    return new GitDialogue(await spawnGit(args, place), answers, patienceMs);
  }

  /** Answers arrive in the order of the questions. */
  ask(question: string): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#asked.push({ resolve, reject });
      this.#timer ??= setTimeout(() => this.#giveUp(), this.#patienceMs);
      this.#child.stdin.write(question);
    });
  }

  /** Git may wait for something that a command left: a named pipe in place of a `.gitignore`. */
  #giveUp(): void {
    this.#fail(`it gave no answer within ${this.#patienceMs / 1000} s`);
    endGroup(this.#child.pid);
  }

  #hear(chunk: Buffer): void {
    this.#timer?.refresh();
    this.#said.push(chunk);
    this.#size += chunk.byteLength;
    for (;;) {
      // Joined only when a whole answer is there: a large one arrives in a thousand pieces.
      if (this.#expected === undefined) this.#expected = this.#answers.length(this.#together());
      if (this.#expected === undefined || this.#size < this.#expected) return;
      const all = this.#together();
      const answer = all.subarray(0, this.#expected);
      this.#said = [all.subarray(this.#expected)];
      this.#size -= this.#expected;
      this.#expected = undefined;
      this.#asked.shift()?.resolve(this.#answers.read(answer));
      if (this.#asked.length === 0) this.#stopWaiting();
    }
  }

  #together(): Buffer {
    const all = this.#said.length === 1 ? this.#said[0] : undefined;
    if (all !== undefined) return all;
    const joined = Buffer.concat(this.#said);
    this.#said = [joined];
    return joined;
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The first reason is the one that callers get. */
  #fail(why: string): void {
    this.#stopWaiting();
    this.#failure ??= new AgentsError("git_failed", `git has stopped answering: ${why}`, {
      kept: "Nothing of yours was changed.",
    });
    for (const { reject } of this.#asked.splice(0)) reject(this.#failure);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }
}
