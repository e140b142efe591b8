import { print, type Sink } from "./gate.ts";

/**
 * Progress on stderr: one line that is drawn over on a terminal, a plain line now and then elsewhere. Nothing for what
 * takes under a second.
 */
export interface Progress {
  readonly update: (done: number, total: number) => void;
  /** Takes the line away. */
  readonly end: () => void;
}

const QUIET_MS = 1_000;
/** Where the line is drawn over. */
const AGAIN = [{ move: "line start" }, { move: "erase line" }] as const;
const EVERY_MS = { terminal: 100, plain: 2_000 } as const;

interface ProgressParts {
  readonly stream: Sink;
  readonly now?: () => number;
  /** Whether a line can be drawn over. */
  readonly terminal: boolean;
}

export function progressOf(what: string, parts: ProgressParts): Progress {
  const { stream, terminal, now = () => performance.now() } = parts;
  const began = now();
  let shownAt = began + QUIET_MS - EVERY_MS.plain;
  let drawn = false;
  return {
    update: (done, total) => {
      const at = now();
      if (at - began < QUIET_MS || at - shownAt < EVERY_MS[terminal ? "terminal" : "plain"]) return;
      shownAt = at;
      const rate = Math.round(done / ((at - began) / 1_000));
      const line = `${what}: ${done} of ${total} files (${rate} a second)`;
      print(stream, terminal ? [...AGAIN, line] : `${line}\n`);
      drawn = terminal;
    },
    end: () => {
      if (drawn) print(stream, AGAIN);
      drawn = false;
    },
  };
}
