/** A store with some of its methods replaced, for tests of what happens when the database does not answer. */
import type { Store } from "../store/port.ts";

export function alteredStore(store: Store, changes: Partial<Pick<Store, "transaction" | "read">>): Store {
  return {
    url: store.url,
    place: store.place,
    unitsOverlap: store.unitsOverlap,
    contents: store.contents,
    transaction: (unit, options) => store.transaction(unit, options),
    read: (query) => store.read(query),
    changeCounter: () => store.changeCounter(),
    check: () => store.check(),
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
    ...changes,
  };
}
