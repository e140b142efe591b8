/**
 * The listeners for changes of state. They are code of others: they run after the change, and their exceptions become
 * warnings.
 */
import type { BreakerState } from "./breaker-word.ts";

/** A breaker changed its state. */
export interface BreakerTransition {
  readonly name: string;
  readonly from: BreakerState;
  readonly to: BreakerState;
  readonly failures: number;
  readonly generation: number;
}

/** Hears of changes of state, after they took effect. */
export type TransitionListener = (transition: BreakerTransition) => void;

/** A change of a name's word, of its count too. For listeners that store it elsewhere. */
export interface BreakerChange {
  readonly name: string;
  readonly cause: BreakerCause;
  readonly generation: number;
  readonly nextGeneration: number;
}

export type BreakerCause = "success" | "failure" | "cancel" | "probe" | "reset";

export class Listeners<Change> {
  /** Replaced, never modified: a running `tell` iterates over the listeners that existed when it began. */
  #listeners: readonly ((change: Change) => void)[] = [];

  add(listener: (change: Change) => void): () => void {
    // A new function each time, so that one listener can be subscribed twice and each subscription ends by itself.
    const own = (change: Change): void => listener(change);
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  notify(change: Change): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}
