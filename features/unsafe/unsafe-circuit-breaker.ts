/**
 * The circuit breaker with its protection taken out: it looks at the shared word, decides, and stores, without asking
 * whether the word is still what it saw. This is how counts were lost before. Tests run the same checks on it to show
 * that they would notice.
 */
import {
  BreakerTable,
  type BreakerMemory,
  HEADER_BYTES,
  SLOT_WORDS,
  TAG_MASK,
  TIME_BITS,
} from "../../src/context/breaker/breaker-table.ts";
import type { BreakerSettings, BreakerClock } from "../../src/context/breaker/breaker-settings.ts";
import { CircuitBreaker, type SharedBreaker } from "../../src/context/breaker/circuit-breaker.ts";

export function createUnsafeCircuitBreaker(
  options: Partial<BreakerSettings> & { clock?: BreakerClock } = {},
): CircuitBreaker {
  const { shared } = new CircuitBreaker(options);
  return attach(shared, options.clock === undefined ? {} : { clock: options.clock });
}

/** Takes the place of `CircuitBreaker.attach`. */
export function attach(shared: SharedBreaker, options: { readonly clock?: BreakerClock } = {}): CircuitBreaker {
  const table = new BreakerTable(shared.buffer, shared.options.capacity);
  return new CircuitBreaker({ ...shared.options, ...options }, withoutCompareExchange(table, shared.options.capacity));
}

function withoutCompareExchange(table: BreakerTable, capacity: number): BreakerMemory {
  const words = new BigUint64Array(table.buffer, HEADER_BYTES, capacity * SLOT_WORDS);
  const half = (value: number): bigint => BigInt(value >>> 0);
  return {
    buffer: table.buffer,
    names: table.names,
    generation: (slot) => table.generation(slot),
    low: (slot) => table.low(slot),
    deadline: (slot, generation) => table.deadline(slot, generation),
    replace: (slot, _generation, _low, nextGeneration, nextLow) => {
      words[slot * SLOT_WORDS] = (half(nextGeneration) << 32n) | half(nextLow);
      return true;
    },
    publishDeadline: (slot, generation, at) => {
      const time = Math.ceil(at);
      words[slot * SLOT_WORDS + 1] = (BigInt(generation & TAG_MASK) << TIME_BITS) | BigInt(time);
      return time;
    },
  };
}
