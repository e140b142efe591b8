/**
 * Recorded answers, to be given again by position to a new process of the agent. Positions count within a
 * conversation; a conversation that begins with other words than the recorded one, such as today's date, takes the
 * place of the first recorded one that is still free.
 */
import type { AsideOutput, RecordedAnswer } from "./round-records.ts";

export class RecordedAnswers {
  readonly #answers: RecordedAnswer[];
  readonly #asides: AsideOutput[];
  /** The recorded conversation of each present one. */
  readonly #known = new Map<string, string>();

  constructor(answers: readonly RecordedAnswer[], asides: readonly AsideOutput[]) {
    this.#answers = [...answers];
    this.#asides = [...asides];
  }

  /** Whether answers are left that were not given. */
  get isReplay(): boolean {
    return this.#answers.length > 0;
  }

  /** The answer that the conversation gets next; undefined when it goes on live. */
  next(conversation: string): RecordedAnswer | undefined {
    const recorded = this.#known.get(conversation) ?? this.#recordedFor(conversation);
    if (recorded !== undefined) this.#known.set(conversation, recorded);
    const at = this.#answers.findIndex((answer) => answer.conversation === recorded);
    return at === -1 ? undefined : this.#answers.splice(at, 1)[0];
  }

  /** Under which a further answer of the conversation is recorded, so that all of one have the same name. */
  nameOf(conversation: string): string {
    return this.#known.get(conversation) ?? conversation;
  }

  /** The same question; while answers are given again, also the next one. */
  aside(request: string): AsideOutput | undefined {
    const same = this.#asides.findIndex((aside) => aside.request === request);
    const at = same === -1 && this.isReplay ? 0 : same;
    return at === -1 ? undefined : this.#asides.splice(at, 1)[0];
  }

  #recordedFor(conversation: string): string | undefined {
    const names = this.#answers.map((answer) => answer.conversation);
    if (names.includes(conversation)) return conversation;
    const taken = new Set(this.#known.values());
    return names.find((name) => !taken.has(name));
  }
}
