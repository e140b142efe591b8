/**
 * The lifecycle of one plan and its lease as a few numbers and the hand-written table. Given what the callers did in
 * the order in which it took effect, it says for each whether it had to succeed; the store must have given the same
 * answers.
 */
import { MAX_REVERSIONS, type PlanOperation, type Phase, type StatusKey } from "../domain/plan/transitions.ts";
import { expectedTarget } from "./expected-moves.ts";

/** The lease a caller acts under, as it knows it. */
export interface KnownLease {
  readonly phase: Phase;
  readonly epoch: number;
}

export type ModelAction =
  | { readonly kind: "move"; readonly operation: PlanOperation; readonly lease: KnownLease | undefined }
  | { readonly kind: "renew" | "release" | "write"; readonly lease: KnownLease };

export type Verdict = "ok" | "conflict" | "stale";

export class PlanModel {
  status: StatusKey;
  version: number;
  attempt = 1;
  epoch: number;
  expiresAt = 0;
  readonly #ttlMs: number;

  /** Begins with a plan without a lease holder, in its first attempt. */
  constructor(start: { status: StatusKey; version: number; epoch: number; ttlMs: number }) {
    this.status = start.status;
    this.version = start.version;
    this.epoch = start.epoch;
    this.#ttlMs = start.ttlMs;
  }

  take(action: ModelAction, now: number): Verdict {
    if (action.kind === "move") return this.#move(action.operation, action.lease, now);
    if (!this.#holds(action.lease, now)) return "stale";
    if (action.kind === "renew") this.expiresAt = now + this.#ttlMs;
    if (action.kind === "release") this.expiresAt = 0;
    return "ok";
  }

  #holds(lease: KnownLease, now: number): boolean {
    return lease.epoch === this.epoch && this.expiresAt > now;
  }

  #move(operation: PlanOperation, lease: KnownLease | undefined, now: number): Verdict {
    const to = expectedTarget(this.status, operation);
    if (to === undefined) return "conflict";
    if (operation === "revertPlan" && this.attempt > MAX_REVERSIONS) return "conflict";
    if (operation.startsWith("start")) {
      if (this.expiresAt > now) return "conflict";
      this.epoch += 1;
      this.expiresAt = now + this.#ttlMs;
    } else if (lease !== undefined) {
      if (!this.status.startsWith(lease.phase) || !this.#holds(lease, now)) return "stale";
      this.expiresAt = 0;
    } else if (operation === "constrainApply") {
      if (this.status === "apply/processing") return "conflict";
    } else if (operation === "rollbackPlan") {
      if (this.expiresAt > now) return "conflict";
      if (this.epoch > 0) this.epoch += 1;
      this.expiresAt = 0;
    } else if (operation === "cancelPlan" || operation === "revertPlan") {
      // A plan that never had a lease has no epoch to raise.
      if (this.epoch > 0) this.epoch += 1;
      this.expiresAt = 0;
    }
    if (operation === "revertPlan") this.attempt += 1;
    this.status = to;
    this.version += 1;
    return "ok";
  }
}
