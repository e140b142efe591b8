/** Who wants to hear of changes of state. Listeners are foreign code: they run after the change, and what they throw stays theirs. */
import type { BreakerState } from "./breaker-word.ts";

export interface BreakerTransition {
  readonly name: string;
  readonly from: BreakerState;
  readonly to: BreakerState;
  readonly failures: number;
  readonly generation: number;
}

export type TransitionListener = (transition: BreakerTransition) => void;

/** A change of a name's word, of its count too, as the halves of the word (breaker-word.ts). For whoever keeps it elsewhere. */
export interface BreakerChange {
  readonly name: string;
  readonly cause: BreakerCause;
  readonly generation: number;
  readonly nextGeneration: number;
}

export type BreakerCause = "success" | "failure" | "cancel" | "probe" | "reset";

export class Listeners<News> {
  /** Replaced, never changed: whoever is being told iterates over the listeners there were when it began. */
  #listeners: readonly ((news: News) => void)[] = [];

  add(listener: (news: News) => void): () => void {
    // Its own function each time, so that one listener can be subscribed twice and each subscription ends by itself.
    const own = (news: News): void => listener(news);
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  tell(news: News): void {
    for (const listener of this.#listeners) {
      try {
        listener(news);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}
