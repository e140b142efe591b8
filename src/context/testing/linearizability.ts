/**
 * Decides whether a recorded concurrent history is linearizable: whether its operations can be put into one order in
 * which each takes effect at some instant between its call and its return, and a sequential model gives every recorded
 * result.
 *
 * The search is Wing and Gong's: try as next any operation that was called before every other remaining one returned;
 * go back when the model disagrees. A thread's operations have an order of their own, so a point of the search is one
 * position per thread plus the model's state; points that failed once are remembered, which keeps the search small
 * (Lowe's addition).
 */

export interface RecordedOperation<Operation, Result> {
  readonly operation: Operation;
  readonly result: Result;
  readonly called: bigint;
  readonly returned: bigint;
}

/** One list per thread, each in the order in which the thread did it. */
export type History<Operation, Result> = readonly (readonly RecordedOperation<Operation, Result>[])[];

export interface SequentialModel<State, Operation, Result> {
  readonly initial: State;
  step(state: State, operation: Operation): { readonly state: State; readonly result: Result };
}

/** Results are compared by `Object.is`; a state must say all about itself in JSON. */
export function isLinearizable<State, Operation, Result>(
  history: History<Operation, Result>,
  model: SequentialModel<State, Operation, Result>,
): boolean {
  const failed = new Set<string>();

  const search = (positions: readonly number[], state: State): boolean => {
    const pending = history.flatMap((thread, index) => {
      const recorded = thread[positions[index] ?? 0];
      return recorded === undefined ? [] : [{ index, recorded }];
    });
    if (pending.length === 0) return true;
    const point = JSON.stringify([positions, state]);
    if (failed.has(point)) return false;

    const firstReturn = pending.reduce(
      (first, { recorded }) => (recorded.returned < first ? recorded.returned : first),
      pending[0]?.recorded.returned ?? 0n,
    );
    for (const { index, recorded } of pending) {
      if (recorded.called > firstReturn) continue;
      const next = model.step(state, recorded.operation);
      if (!Object.is(next.result, recorded.result)) continue;
      const moved = positions.map((position, thread) => (thread === index ? position + 1 : position));
      if (search(moved, next.state)) return true;
    }
    failed.add(point);
    return false;
  };

  return search(
    history.map(() => 0),
    model.initial,
  );
}

/**
 * How many operations were under way at the same time as one of another thread. A history without any proves nothing.
 */
export function overlaps<Operation, Result>(history: History<Operation, Result>): number {
  let count = 0;
  history.forEach((thread, index) => {
    const others = history.filter((_, other) => other !== index).flat();
    for (const one of thread) {
      if (others.some((other) => other.called < one.returned && one.called < other.returned)) count++;
    }
  });
  return count;
}

/** A history as text, in the order of the calls, for the message of a failed test. */
export function describeHistory<Operation, Result>(history: History<Operation, Result>): string {
  const all = history.flatMap((thread, index) => thread.map((recorded) => ({ index, recorded })));
  const start = all.reduce(
    (first, { recorded }) => (recorded.called < first ? recorded.called : first),
    all[0]?.recorded.called ?? 0n,
  );
  return all
    .sort((a, b) => Number(a.recorded.called - b.recorded.called))
    .map(({ index, recorded }) => {
      const span = `${recorded.called - start}..${recorded.returned - start} ns`;
      return `thread ${index} ${span}: ${JSON.stringify(recorded.operation)} → ${String(recorded.result)}`;
    })
    .join("\n");
}
