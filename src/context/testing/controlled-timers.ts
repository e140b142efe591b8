/** Deadlines that end when a test says so: how fast strategies run on a busy machine then decides on nothing. */
import type { DeadlineTimers } from "../executor/deadline-timers.ts";

interface RunningTimer {
  readonly endsAt: number;
  readonly onEnd: () => void;
}

export class ControlledTimers implements DeadlineTimers {
  readonly #running = new Set<RunningTimer>();
  #time = 0;
  #started = 0;
  #waiting: (() => void)[] = [];

  readonly now = (): number => this.#time;

  start(milliseconds: number, onEnd: () => void): () => void {
    const timer = { endsAt: this.#time + milliseconds, onEnd };
    // The deadline of an execution runs from its beginning to its end.
    if (this.#running.size === 0) this.#started = 0;
    this.#running.add(timer);
    this.#started += 1;
    this.#changed();
    return () => {
      if (this.#running.delete(timer)) this.#changed();
    };
  }

  /** Until this many strategies of the one execution have begun, and all but `hanging` of them have ended. */
  async untilOnly(hanging: number, begun: number): Promise<void> {
    // Beside those of the strategies there is the deadline of all together.
    while (this.#started < begun + 1 || this.#running.size > hanging + 1) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  advance(milliseconds: number): void {
    this.#time += milliseconds;
    const due = Array.from(this.#running).filter(({ endsAt }) => endsAt <= this.#time);
    for (const timer of due.toSorted((a, b) => a.endsAt - b.endsAt)) {
      if (this.#running.delete(timer)) timer.onEnd();
    }
  }

  #changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
