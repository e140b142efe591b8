/** Counting tokens is quick but not free: a loop that counts many gives other work of its thread a turn in between. */
const TURN_MS = 20;

/** `map` that gives the event loop a turn every 20 ms. */
export async function cooperativeMap<T, Result>(items: readonly T[], work: (item: T) => Result): Promise<Result[]> {
  const results: Result[] = [];
  let since = performance.now();
  for (const item of items) {
    results.push(work(item));
    if (performance.now() - since <= TURN_MS) continue;
    await new Promise(setImmediate);
    since = performance.now();
  }
  return results;
}
