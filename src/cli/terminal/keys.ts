/** The keys of a person at a view that has the whole terminal, one after the other. */
import type { Asking } from "./confirm.ts";

/** A character, or the name of a key that has none. */
export type Key = string;

const NAMES: Readonly<Record<string, Key>> = {
  "\u001b[A": "up",
  "\u001bOA": "up",
  "\u001b[B": "down",
  "\u001bOB": "down",
  "\u001b[5~": "page up",
  "\u001b[6~": "page down",
  "\r": "enter",
  "\n": "enter",
  "\u001b": "escape",
  "\u0003": "interrupt",
  "\u0004": "interrupt",
  "\u007f": "backspace",
  "\b": "backspace",
};
// oxlint-disable-next-line no-control-regex -- keys are control characters
const KEY = /\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Z])|[\s\S]/gu;

export function keysIn(typed: string): Key[] {
  return (typed.match(KEY) ?? []).flatMap((code) => {
    const name = NAMES[code];
    if (name !== undefined) return [name];
    // Of other keys without a character nothing is wanted.
    return code.startsWith("\u001b") || code < " " ? [] : [code];
  });
}

/** Keys, as they are typed, while the terminal is in raw mode. */
export class Keys {
  readonly #input: Asking["input"];
  #typed: Key[] = [];
  #wake: () => void = () => undefined;
  #ended = false;

  constructor(input: Asking["input"]) {
    this.#input = input;
  }

  listen(): void {
    this.#input.setRawMode?.(true);
    this.#input.on("data", this.#onData);
    this.#input.on("end", this.#onEnd);
    this.#input.resume();
  }

  /** Keys that were not taken yet are forgotten: they were meant for something that is no longer shown. */
  stop(): void {
    this.#input.off("data", this.#onData);
    this.#input.off("end", this.#onEnd);
    this.#input.pause();
    this.#input.setRawMode?.(false);
    this.#typed = [];
  }

  /** The next key; undefined when none came in time. */
  async next(milliseconds: number): Promise<Key | undefined> {
    if (this.#typed.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.#typed.shift() ?? (this.#ended ? "interrupt" : undefined);
  }

  readonly #onData = (data: unknown): void => {
    this.#typed.push(...keysIn(String(data)));
    this.#wake();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#wake();
  };
}
