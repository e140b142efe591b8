/**
 * The conversations of one agent: its own, and those of its sub-agents. A sub-agent is told in its first words what a
 * call of the agent above it says, so it is known which of the answers that are at work began it.
 */
import { textsIn } from "./credited-calls.ts";
import type { Round } from "./round-recorder.ts";

/** Shorter texts of a call are in many first words by chance. */
const SHORTEST = 10;

export class Conversations {
  /** Answers whose calls were handed out, and whose conversation did not ask again; the oldest first. */
  #open: Round[] = [];
  /** The conversation that began another one. */
  readonly #above = new Map<string, string>();
  #main: string | undefined;

  /** The answer above all others that are at work. */
  get first(): Round | undefined {
    return this.#open[0];
  }

  of(conversation: string): Round | undefined {
    return this.#open.find((round) => round.conversation === conversation);
  }

  /** A conversation begins; returns the answer that began it, as far as one is at work. */
  opened(conversation: string, words: string): Round | undefined {
    this.#main ??= conversation;
    if (conversation === this.#main || this.of(conversation) !== undefined) return undefined;
    const parent = this.#open.findLast((round) => tells(round, words)) ?? this.of(this.#main);
    if (parent !== undefined) this.#above.set(conversation, parent.conversation);
    return parent;
  }

  /** Whether the round is of a sub-agent that this conversation began and waited for. */
  isAbove(conversation: string, { conversation: below }: Round): boolean {
    return this.#above.get(below) === conversation;
  }

  begun(round: Round): void {
    this.asks(round.conversation);
    this.#open.push(round);
  }

  asks(conversation: string): void {
    this.#open = this.#open.filter((round) => round.conversation !== conversation);
  }
}

function tells({ calls }: Round, words: string): boolean {
  return calls.some(({ params }) => textsIn(params).some((text) => text.length >= SHORTEST && words.includes(text)));
}
