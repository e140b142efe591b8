/** The time by which deadlines are kept. A test gives an executor one that moves by hand. */
export interface DeadlineTimers {
  /** In milliseconds, from any beginning. */
  now(): number;
  /** Calls `onEnd` once after that time, unless the returned function is called before. */
  start(milliseconds: number, onEnd: () => void): () => void;
}

export const REAL_TIMERS: DeadlineTimers = {
  now: () => performance.now(),
  start: (milliseconds, onEnd) => {
    const timer = setTimeout(onEnd, milliseconds);
    return () => clearTimeout(timer);
  },
};
