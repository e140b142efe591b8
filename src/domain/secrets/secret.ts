import { inspect } from "node:util";

/** A value that cannot get into a log, a record or an error by being printed: only `reveal` gives it out. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

/** The text shown in place of a secret. */
export const HIDDEN = "(secret)";
