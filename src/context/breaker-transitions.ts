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

export class TransitionListeners {
  /** Replaced, never changed: whoever is being told iterates over the listeners there were when it began. */
  #listeners: readonly TransitionListener[] = [];

  add(listener: TransitionListener): () => void {
    // Its own function each time, so that one listener can be subscribed twice and each subscription ends by itself.
    const own: TransitionListener = (transition) => listener(transition);
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  tell(transition: BreakerTransition): void {
    for (const listener of this.#listeners) {
      try {
        listener(transition);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}
