/**
 * The expected behavior of a circuit breaker, written down for one thread in the plainest way: no bits, no atomics.
 * Tests compare the real one with it.
 */
import type { BreakerSettings } from "../breaker/breaker-settings.ts";
import type { BreakerOperation, OperationResult } from "./breaker-operations.ts";

export interface ModelState {
  readonly phase: "closed" | "open" | "probe out" | "probe returned";
  readonly failures: number;
  readonly reopened: number;
  readonly generation: number;
  /** When the cooldown, or the time limit of the probe, ends. */
  readonly until: number;
  /** Generation of each permit that is still unsettled. */
  readonly permits: Readonly<Record<number, number>>;
}

export const INITIAL: ModelState = { phase: "closed", failures: 0, reopened: 0, generation: 0, until: 0, permits: {} };

export class BreakerModel {
  readonly #settings: BreakerSettings;

  constructor(settings: BreakerSettings) {
    this.#settings = settings;
  }

  step(state: ModelState, operation: BreakerOperation, now: number): { state: ModelState; result: OperationResult } {
    switch (operation.do) {
      case "success":
        return { state: this.#succeed(state), result: undefined };
      case "failure":
        return { state: this.#fail(state, now), result: undefined };
      case "reset":
        return { state: close(state), result: undefined };
      case "state":
        return { state, result: visible(state, now) };
      case "failures":
        return { state, result: state.failures };
      case "isOpen":
        return { state, result: rejects(state, now) };
      case "acquire":
        return this.#acquire(state, operation.as, now);
      case "settle": {
        const given = state.permits[operation.permit];
        const settled = { ...state, permits: without(state.permits, operation.permit) };
        if (given !== state.generation) return { state: settled, result: undefined };
        if (operation.verdict === "success") return { state: this.#succeed(settled), result: undefined };
        if (operation.verdict === "failure") return { state: this.#fail(settled, now), result: undefined };
        if (settled.phase !== "probe out") return { state: settled, result: undefined };
        return { state: { ...settled, phase: "probe returned", generation: state.generation + 1 }, result: undefined };
      }
    }
  }

  #succeed(state: ModelState): ModelState {
    return state.phase === "closed" ? { ...state, failures: 0 } : close(state);
  }

  #fail(state: ModelState, now: number): ModelState {
    const failures = state.failures + 1;
    if (state.phase === "closed" && failures >= this.#settings.failureThreshold) {
      return this.#open({ ...state, failures }, now);
    }
    if (state.phase === "probe out") return this.#open({ ...state, failures, reopened: state.reopened + 1 }, now);
    return { ...state, failures };
  }

  #open(state: ModelState, now: number): ModelState {
    let cooldown = this.#settings.cooldownMs;
    for (let i = 0; i < state.reopened; i++) cooldown = Math.min(cooldown * 2, this.#settings.maxCooldownMs);
    return { ...state, phase: "open", generation: state.generation + 1, until: now + cooldown };
  }

  #acquire(state: ModelState, as: number, now: number): { state: ModelState; result: boolean } {
    if (rejects(state, now)) return { state: { ...state, permits: without(state.permits, as) }, result: false };
    if (state.phase === "closed") {
      return { state: { ...state, permits: { ...state.permits, [as]: state.generation } }, result: true };
    }
    const generation = state.generation + 1;
    const until = now + this.#settings.probeTimeoutMs;
    const permits = { ...state.permits, [as]: generation };
    return { state: { ...state, phase: "probe out", generation, until, permits }, result: true };
  }
}

function close(state: ModelState): ModelState {
  return { ...state, phase: "closed", failures: 0, reopened: 0, generation: state.generation + 1 };
}

function rejects(state: ModelState, now: number): boolean {
  return (state.phase === "open" || state.phase === "probe out") && now < state.until;
}

function visible(state: ModelState, now: number): string {
  if (state.phase === "closed") return "closed";
  return state.phase === "open" && now < state.until ? "open" : "half-open";
}

function without(permits: Readonly<Record<number, number>>, index: number): Record<number, number> {
  return Object.fromEntries(Object.entries(permits).filter(([key]) => Number(key) !== index));
}
