/**
 * Of several conversations of one agent, such as those of sub-agents, one at a time carries out the calls of an answer:
 * models think side by side, tools work one after another, so each change has one answer that it came from. A
 * conversation has the floor from the moment it is handed an answer with calls until it asks again. Recorded answers
 * have it in the order in which they had it before.
 */
import { DivergedError, type Round } from "./round-recorder.ts";

/** A conversation that was ended by its agent never asks again; others do not wait for it for ever. */
const PATIENCE_MS = 600_000;

export class Floor {
  readonly #waiting: (() => void)[] = [];
  /** Recorded rounds that come first, in this order. */
  readonly #first: number[];
  #holder: Round | undefined;
  #closed = false;

  constructor(first: readonly number[]) {
    this.#first = [...first];
  }

  get holder(): Round | undefined {
    return this.#holder;
  }

  /** Waits for the floor, and has it. @throws DivergedError when one that had it before does not come. */
  async enter(round: Round): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!this.#isFreeFor(round)) {
      const left = deadline - performance.now();
      if (left <= 0) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    if (this.#closed || this.#holder === round) return;
    const [first = round.number] = this.#first;
    if (first !== round.number) throw new DivergedError(`the answer ${first} is not asked for again`);
    this.#first.shift();
    this.#holder = round;
  }

  #isFreeFor(round: Round): boolean {
    if (this.#closed || this.#holder === round) return true;
    const [first = round.number] = this.#first;
    return first === round.number && (this.#holder === undefined || this.#holder.conversation === round.conversation);
  }

  leave(): void {
    this.#holder = undefined;
    for (const next of this.#waiting.splice(0)) next();
  }

  /** Nothing waits any more. */
  close(): void {
    this.#closed = true;
    for (const next of this.#waiting.splice(0)) next();
  }
}
