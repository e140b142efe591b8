import { createContext, Script } from "node:vm";

/**
 * Regular expressions that people write may take longer than the universe lasts ("(a+)+$" does, on forty letters), and
 * nothing on the same thread can stop one by waiting. Node's own watchdog can: it ends a script in the middle of an
 * expression. Measured: 0.3 ms for each look, against 100 ms to start a worker thread, which would also need a separate
 * file in the bundle.
 */
const SCRIPT = new Script("texts.flatMap((text, index) => (expression.test(text) ? [index] : []))");

const MATCH_LIMIT_MS = 2_000;

/** Which of the texts match, by position; undefined when that is not known within the limit. */
export function matching(expression: RegExp, texts: readonly string[]): number[] | undefined {
  try {
    return Array.from(
      SCRIPT.runInContext(createContext({ expression, texts }), { timeout: MATCH_LIMIT_MS }) as number[],
    );
  } catch (error) {
    // It comes from the script's own world, where errors are of another class.
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
    throw error;
  }
}

/** As part of a sentence, for the author of the expression. */
export const TOO_SLOW = `takes more than ${MATCH_LIMIT_MS / 1000} s; repetitions inside repetitions, as in "(a+)+", do that`;
