/**
 * A circuit breaker that is exact for all threads of a process. Its memory, and why a thread may be terminated at any
 * instruction, is explained in breaker-table.ts; the rules of the state machine are the arithmetic of breaker-word.ts.
 * This file combines the two: read the word, compute the next one, exchange it if no other thread was faster, otherwise
 * read again. There is no lock, so nothing can be held while code of others runs.
 */
import { BreakerOpenError } from "../../domain/errors/errors.ts";
import { type BreakerPermit, GenerationPermit, type SettlePermit } from "./breaker-permit.ts";
import { type BreakerMemory, BreakerTable } from "./breaker-table.ts";
import { type BreakerSettings, breakerSettings, type BreakerClock, monotonicMs } from "./breaker-settings.ts";
import {
  type BreakerCause,
  type BreakerChange,
  type BreakerTransition,
  Listeners,
  type TransitionListener,
} from "./breaker-transitions.ts";
import {
  afterCancel,
  afterFailure,
  afterSuccess,
  type BreakerState,
  CLOSED,
  durationOf,
  failuresOf,
  OPEN,
  phaseOf,
  PROBING,
  READY,
  stateOf,
  withPhase,
} from "./breaker-word.ts";

export type { BreakerPermit } from "./breaker-permit.ts";
export type { BreakerTransition, TransitionListener } from "./breaker-transitions.ts";
export type { BreakerState } from "./breaker-word.ts";

/** The settings of a breaker, each with a default, and its clock. */
export interface CircuitBreakerOptions extends Partial<BreakerSettings> {
  readonly clock?: BreakerClock;
}

/** Everything another thread needs to attach; goes through `workerData` or `postMessage` as it is. */
export interface SharedBreaker {
  readonly buffer: SharedArrayBuffer;
  readonly options: BreakerSettings;
}

/** Both halves of a name's word as they were at one instant. */
export interface BreakerWord {
  readonly generation: number;
  readonly low: number;
}

/** A reader's view; "waiting" and "probing" reject, "ready" means that the next caller becomes the probe. */
type Observation = "closed" | "waiting" | "probing" | "ready";

/**
 * Switches a failing strategy off by name and finds out later, with one call, whether it works again.
 *
 * Guarantees, for any number of threads that share one breaker (`shared`, `attach`):
 *
 * - *No result is lost or counted twice.* State, failure count, cooldown step and generation of a name are one 64-bit
 *   word in shared memory, changed only by compare-exchange. Each operation on a name takes effect at one instant;
 *   operations on different names do not influence each other. `resetAll` is one `reset` per name, not one instant for
 *   all.
 * - *Opens exactly at the threshold*, for `cooldownMs`, twice as long after each failed probe, at most `maxCooldownMs`.
 *   Failures while it is open are counted but do not extend the cooldown.
 * - *One probe.* After the cooldown one caller among all threads is admitted. If it does not report within
 *   `probeTimeoutMs` the next caller takes its place, so a hung or terminated probe never blocks a name for ever.
 * - *Late results change nothing.* A permit belongs to the generation in which it was given; after any transition or
 *   reset its result is dropped. `recordSuccess` and `recordFailure`, which have no permit, count as results of now.
 * - *A thread may be terminated at any instruction* without leaving a name stuck: there is no lock, and any other
 *   thread completes what it left unfinished (breaker-table.ts).
 *
 * Not covered: other processes have their own memory (`SharedBreakers` keeps them in step); counts stop at 16,777,215.
 *
 * @example
 * ```js
 * import assert from "node:assert/strict";
 * import { CircuitBreaker } from "cleveragents/primitives";
 *
 * let now = 0;
 * const breaker = new CircuitBreaker({ failureThreshold: 2, cooldownMs: 1_000, clock: () => now });
 * const search = async () => {
 *   throw new Error("index is gone");
 * };
 *
 * await assert.rejects(breaker.execute("search", search), /index is gone/);
 * await assert.rejects(breaker.execute("search", search), /index is gone/);
 * await assert.rejects(breaker.execute("search", search), { code: "breaker_open" }); // not even called
 *
 * now += 1_000;
 * assert.equal(breaker.state("search"), "half-open");
 * const probe = breaker.tryAcquire("search");
 * assert.equal(breaker.tryAcquire("search"), undefined); // one probe is enough
 * probe.success();
 * assert.equal(breaker.state("search"), "closed");
 * ```
 */
export class CircuitBreaker {
  readonly #settings: BreakerSettings;
  readonly #memory: BreakerMemory;
  readonly #clock: BreakerClock;
  /** Slots never move, so a slot that was looked up once stays valid. */
  readonly #slots = new Map<string, number>();
  readonly #listeners = new Listeners<BreakerTransition>();
  readonly #changes = new Listeners<BreakerChange>();

  readonly #failed: (low: number) => number;
  readonly #settle: SettlePermit = (name, slot, generation, verdict) => {
    const rule = verdict === "success" ? afterSuccess : verdict === "failure" ? this.#failed : afterCancel;
    this.#change(name, slot, verdict, rule, generation);
  };

  /** @param memory replaces the shared memory; only `attach` and tests have a reason to. */
  constructor(options: CircuitBreakerOptions = {}, memory?: BreakerMemory) {
    const settings = breakerSettings(options);
    this.#settings = settings;
    this.#memory = memory ?? BreakerTable.create(settings.capacity);
    this.#clock = options.clock ?? monotonicMs;
    this.#failed = (low) => afterFailure(low, settings.failureThreshold);
  }

  /** The same breaker, in another thread. A clock must be comparable with that of the other threads. */
  static attach(shared: SharedBreaker, options: { readonly clock?: BreakerClock } = {}): CircuitBreaker {
    const settings = breakerSettings(shared.options);
    return new CircuitBreaker({ ...settings, ...options }, new BreakerTable(shared.buffer, settings.capacity));
  }

  get shared(): SharedBreaker {
    return { buffer: this.#memory.buffer, options: this.#settings };
  }

  /** Closes the name and zeroes its count, in any state. For callers that have no permit. */
  recordSuccess(name: string): void {
    const slot = this.#intern(name);
    if (this.#memory.low(slot) !== 0) this.#change(name, slot, "success", afterSuccess);
  }

  /**
   * Counts a failure; opens at the threshold, and again (for longer) while a probe is running. For callers that have no
   * permit.
   */
  recordFailure(name: string): void {
    this.#change(name, this.#intern(name), "failure", this.#failed);
  }

  /**
   * Whether a call would be rejected now. A pure read: it neither interns the name nor changes its state. (At most it
   * publishes the deadline that a terminated thread left out; see breaker-table.ts.)
   */
  isOpen(name: string): boolean {
    const slot = this.#find(name);
    if (slot < 0) return false;
    const seen = this.#observe(slot);
    return seen === "waiting" || seen === "probing";
  }

  /** Half-open means that the cooldown is over: a probe may start, or is running. */
  state(name: string): BreakerState {
    const slot = this.#find(name);
    if (slot < 0) return "closed";
    const seen = this.#observe(slot);
    if (seen === "closed") return "closed";
    return seen === "waiting" ? "open" : "half-open";
  }

  failures(name: string): number {
    const slot = this.#find(name);
    return slot < 0 ? 0 : failuresOf(this.#memory.low(slot));
  }

  /** A permit to make one call, or undefined if the call is rejected. */
  tryAcquire(name: string): BreakerPermit | undefined {
    const slot = this.#intern(name);
    const generation = this.#admit(name, slot);
    return generation === undefined ? undefined : new GenerationPermit(this.#settle, name, slot, generation);
  }

  /** Closed, no failures, first cooldown. Also for a name that is closed already: permits given before become void. */
  reset(name: string): void {
    const slot = this.#find(name);
    if (slot >= 0) this.#reset(name, slot);
  }

  resetAll(): void {
    for (const { name, slot } of this.#memory.names.entries()) this.#reset(name, slot);
  }

  /**
   * Calls `fn` if the breaker admits it and reports how it ended.
   *
   * @param options.signal the caller's own; if it is aborted by the time `fn` rejects, the rejection does not count
   *   against the name.
   * @throws BreakerOpenError if the call is rejected; `fn` was not called.
   */
  async execute<T>(
    name: string,
    fn: () => T | PromiseLike<T>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<T> {
    // The work of a permit, without the object: a closed call took 195 ns instead of 215 (145 of them for awaiting at
    // all).
    const slot = this.#intern(name);
    const generation = this.#admit(name, slot);
    if (generation === undefined) throw new BreakerOpenError(name);
    let result: T;
    try {
      result = await fn();
    } catch (error) {
      this.#settle(name, slot, generation, options?.signal?.aborted === true ? "cancel" : "failure");
      throw error;
    }
    if (this.#memory.low(slot) !== 0) this.#settle(name, slot, generation, "success");
    return result;
  }

  /**
   * Calls the listener after every change of state made through this instance. An exception of a listener becomes a
   * process warning.
   *
   * @returns a function that ends the subscription.
   */
  onTransition(listener: TransitionListener): () => void {
    return this.#listeners.add(listener);
  }

  /** Calls the listener after every change, of a count too, that `adopt` did not make. */
  onChange(listener: (change: BreakerChange) => void): () => void {
    return this.#changes.add(listener);
  }

  /** The word of a name, for code that stores it elsewhere (shared-breakers.ts). */
  word(name: string): BreakerWord {
    const slot = this.#intern(name);
    for (;;) {
      const generation = this.#memory.generation(slot);
      const low = this.#memory.low(slot);
      if (this.#memory.generation(slot) === generation) return { generation, low };
    }
  }

  /**
   * Takes over a change that was decided elsewhere, if the word still is the one that the caller saw. Unless only the
   * count differs, the generation rises, so that permits given before become void.
   *
   * @returns the generation now, or undefined if another thread changed the word first.
   */
  adopt(
    name: string,
    seen: BreakerWord,
    next: { readonly low: number; readonly raise: boolean; readonly endsInMs: number },
  ): number | undefined {
    const slot = this.#intern(name);
    const raised = next.raise ? following(seen.generation) : seen.generation;
    if (!this.#memory.replace(slot, seen.generation, seen.low, raised, next.low)) return undefined;
    if (durationOf(next.low, this.#settings) > 0) {
      this.#memory.publishDeadline(slot, raised, this.#clock() + next.endsInMs);
    }
    this.#announce(name, seen.low, next.low, raised);
    return raised;
  }

  #intern(name: string): number {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const slot = this.#memory.names.intern(name);
    this.#slots.set(name, slot);
    return slot;
  }

  #find(name: string): number {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const slot = this.#memory.names.find(name);
    if (slot >= 0) this.#slots.set(name, slot);
    return slot;
  }

  /** The generation in which a call is admitted, or undefined. Becoming the probe is part of it. */
  #admit(name: string, slot: number): number | undefined {
    const memory = this.#memory;
    for (;;) {
      const generation = memory.generation(slot);
      const low = memory.low(slot);
      if (memory.generation(slot) !== generation) continue;
      const phase = phaseOf(low);
      if (phase === CLOSED) return generation;
      if (phase !== READY) {
        const over = this.#isOver(slot, generation, low);
        if (over === undefined) continue;
        if (!over) return undefined;
      }
      // The winner of this exchange is the probe. It raises the generation even when it takes over from a hung probe,
      // whose result is thereby of an older one.
      if (this.#replace(name, slot, "probe", generation, low, withPhase(low, PROBING), true))
        return following(generation);
    }
  }

  #observe(slot: number): Observation {
    const memory = this.#memory;
    for (;;) {
      const generation = memory.generation(slot);
      const low = memory.low(slot);
      if (memory.generation(slot) !== generation) continue;
      const phase = phaseOf(low);
      if (phase === CLOSED) return "closed";
      if (phase === READY) return "ready";
      const over = this.#isOver(slot, generation, low);
      if (over === undefined) continue;
      if (over) return "ready";
      return phase === OPEN ? "waiting" : "probing";
    }
  }

  /** Whether the time of an open or probing phase is up; undefined if the word has changed and must be read again. */
  #isOver(slot: number, generation: number, low: number): boolean | undefined {
    const now = this.#clock();
    let deadline = this.#memory.deadline(slot, generation);
    if (deadline < 0) {
      deadline = this.#memory.publishDeadline(slot, generation, now + durationOf(low, this.#settings));
      if (deadline < 0) return undefined;
    }
    return now >= deadline;
  }

  /**
   * Applies a rule to the word until no other thread interferes; with `only`, as long as the word is of that
   * generation.
   */
  #change(name: string, slot: number, cause: BreakerCause, rule: (low: number) => number, only?: number): void {
    const memory = this.#memory;
    for (;;) {
      const generation = memory.generation(slot);
      const low = memory.low(slot);
      if (memory.generation(slot) !== generation) continue;
      if (only !== undefined && generation !== only) return;
      const changed = rule(low);
      if (changed === low) return;
      if (this.#replace(name, slot, cause, generation, low, changed, phaseOf(changed) !== phaseOf(low))) return;
    }
  }

  #reset(name: string, slot: number): void {
    const memory = this.#memory;
    for (;;) {
      const generation = memory.generation(slot);
      const low = memory.low(slot);
      if (memory.generation(slot) !== generation) continue;
      if (this.#replace(name, slot, "reset", generation, low, 0, true)) return;
    }
  }

  /** The one place, beside `adopt`, where a word changes. */
  #replace(
    name: string,
    slot: number,
    cause: BreakerCause,
    generation: number,
    low: number,
    changed: number,
    raise: boolean,
  ): boolean {
    const raised = raise ? following(generation) : generation;
    if (!this.#memory.replace(slot, generation, low, raised, changed)) return false;
    const duration = raise ? durationOf(changed, this.#settings) : 0;
    if (duration > 0) this.#memory.publishDeadline(slot, raised, this.#clock() + duration);
    this.#changes.notify({ name, cause, generation, nextGeneration: raised });
    if (raise) this.#announce(name, low, changed, raised);
    return true;
  }

  #announce(name: string, low: number, changed: number, generation: number): void {
    const from = stateOf(low);
    const to = stateOf(changed);
    if (from === to) return;
    this.#listeners.notify({ name, from, to, failures: failuresOf(changed), generation: generation >>> 0 });
  }
}

/** Generations are 32 bits and wrap around. */
function following(generation: number): number {
  return (generation + 1) | 0;
}
