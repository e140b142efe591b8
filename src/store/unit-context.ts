/** Marks what runs inside a unit or read of a store, so that the store can refuse to be called from there. */
import { AsyncLocalStorage } from "node:async_hooks";
import { UnitOfWorkError } from "../domain/errors/errors.ts";

export class UnitContext {
  readonly #inside = new AsyncLocalStorage<true>();

  assertOutside(what: string): void {
    if (this.#inside.getStore() !== true) return;
    throw new UnitOfWorkError(`store.${what}() was called inside a unit of work; use the unit's own handle.`);
  }

  /**
   * A unit runs later, on its turn, but in the async context of its caller; a flag in that context marks it as inside a
   * unit.
   */
  ofCaller<H, T>(unit: (handle: H) => Promise<T>): (handle: H) => Promise<T> {
    const inContext = AsyncLocalStorage.snapshot();
    return async (handle) => inContext(() => this.#inside.run(true, unit, handle));
  }
}
