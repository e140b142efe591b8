/**
 * A store whose every call first waits for its turn in a fast-check scheduler, so that the order in which concurrent
 * callers reach the database is the scheduler's choice, repeatable from its seed. Normally the call ends before the
 * scheduler continues: every interleaving of whole calls can happen, also one caller doing much while another waits.
 * With `overlapping` the scheduler only lets the call begin, so that several are under way at once and share commits.
 */
import type { Scheduler } from "fast-check";
import type { Reader, Store, Tx, UnitOptions } from "../store/port.ts";

export interface ScheduledStoreOptions {
  /** Names the caller in the scheduler's report. */
  readonly label?: string;
  readonly overlapping?: boolean;
  /** Called once for every unit of work, at its end, in the order in which they take effect. */
  readonly onUnit?: (outcome: { readonly error: unknown } | undefined) => void;
}

export function scheduledStore(store: Store, scheduler: Scheduler, options: ScheduledStoreOptions = {}): Store {
  const { label = "store", overlapping = false, onUnit } = options;
  const inTurn = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
    if (overlapping) {
      await scheduler.schedule(Promise.resolve(), `${label} ${what}`);
      return call();
    }
    return new Promise<T>((resolve, reject) => {
      const builder = (): Promise<void> => call().then(resolve, reject);
      scheduler.scheduleSequence([{ label: `${label} ${what}`, builder }]);
    });
  };
  const observed = <T>(unit: (tx: Tx) => Promise<T>) => {
    // A store may run a unit again from its start: that is still one unit.
    let reported = false;
    const report = (outcome: { readonly error: unknown } | undefined): void => {
      if (!reported) onUnit?.(outcome);
      reported = true;
    };
    return async (tx: Tx): Promise<T> => {
      try {
        const value = await unit(tx);
        report(undefined);
        return value;
      } catch (error) {
        report({ error });
        throw error;
      }
    };
  };
  return {
    url: store.url,
    place: store.place,
    unitsOverlap: store.unitsOverlap,
    contents: store.contents,
    transaction: <T>(unit: (tx: Tx) => Promise<T>, options?: UnitOptions) =>
      inTurn("transaction", () => store.transaction(observed(unit), options)),
    read: <T>(query: (reader: Reader) => Promise<T>) => inTurn("read", () => store.read(query)),
    changeCounter: () => store.changeCounter(),
    check: () => store.check(),
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  };
}
