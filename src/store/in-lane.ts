/** A handle on a store whose units are all in one lane, such as that of a plan (see the contract in port.ts). */
import type { ContentPort, Reader, Store, Tx } from "./port.ts";

export function inLane(store: Store, lane: string): Store {
  return new LaneStore(store, lane);
}

class LaneStore implements Store {
  readonly url: string;
  readonly place: string;
  readonly unitsOverlap: boolean;
  readonly contents: ContentPort;
  readonly #store: Store;
  readonly #lane: string;

  constructor(store: Store, lane: string) {
    this.url = store.url;
    this.place = store.place;
    this.unitsOverlap = store.unitsOverlap;
    this.contents = store.contents;
    this.#store = store;
    this.#lane = lane;
  }

  transaction<T>(unit: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#store.transaction(unit, { lane: this.#lane });
  }

  read<T>(query: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#store.read(query);
  }

  changeCounter(): Promise<number> {
    return this.#store.changeCounter();
  }

  onCommit(listener: () => void): () => void {
    return this.#store.onCommit(listener);
  }

  check(): Promise<string> {
    return this.#store.check();
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
