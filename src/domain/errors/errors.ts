import type { NextStep } from "./next-step.ts";
import { shown } from "../text/text.ts";

/**
 * Every failure a caller can act on is one class here, and the one table below says what each means to a shell (exit
 * code), to a JSON-RPC client and to an HTTP client, so that the three can never drift apart. `message` is the sentence
 * a user reads: what happened. `kept` says what is still there, `next` lists operations that continue from here.
 */

const ERROR_TABLE = {
  usage: { exit: 2, rpc: -32602, http: 400 },
  validation: { exit: 2, rpc: -32602, http: 422 },
  not_found: { exit: 3, rpc: -32001, http: 404 },
  conflict: { exit: 4, rpc: -32004, http: 409 },
  already_exists: { exit: 4, rpc: -32005, http: 409 },
  invalid_transition: { exit: 4, rpc: -32004, http: 409 },
  stale_lease: { exit: 4, rpc: -32004, http: 409 },
  merge_conflict: { exit: 4, rpc: -32004, http: 409 },
  constrained: { exit: 1, rpc: -32008, http: 422 },
  resource_busy: { exit: 4, rpc: -32004, http: 409 },
  resource_failed: { exit: 1, rpc: -32008, http: 500 },
  plan: { exit: 1, rpc: -32008, http: 409 },
  decision_phase: { exit: 4, rpc: -32004, http: 409 },
  stuck: { exit: 1, rpc: -32008, http: 422 },
  agent_failed: { exit: 1, rpc: -32008, http: 422 },
  tool_failed: { exit: 1, rpc: -32008, http: 422 },
  graph_failed: { exit: 1, rpc: -32008, http: 422 },
  graph_limit: { exit: 1, rpc: -32008, http: 422 },
  hook_failed: { exit: 1, rpc: -32008, http: 422 },
  confinement_missing: { exit: 1, rpc: -32010, http: 403 },
  policy: { exit: 1, rpc: -32010, http: 403 },
  guard_refused: { exit: 1, rpc: -32010, http: 403 },
  approval_needed: { exit: 1, rpc: -32010, http: 403 },
  contained: { exit: 1, rpc: -32008, http: 422 },
  git_failed: { exit: 1, rpc: -32008, http: 500 },
  interrupted: { exit: 1, rpc: -32008, http: 409 },
  timed_out: { exit: 1, rpc: -32603, http: 504 },
  budget_exceeded: { exit: 1, rpc: -32010, http: 402 },
  price_unknown: { exit: 1, rpc: -32009, http: 422 },
  awaiting_input: { exit: 5, rpc: -32010, http: 409 },
  breaker_open: { exit: 1, rpc: -32603, http: 503 },
  breaker_full: { exit: 1, rpc: -32603, http: 500 },
  configuration: { exit: 1, rpc: -32009, http: 500 },
  model_rate_limit: { exit: 1, rpc: -32603, http: 503 },
  model_overloaded: { exit: 1, rpc: -32603, http: 503 },
  model_network: { exit: 1, rpc: -32603, http: 502 },
  model_server: { exit: 1, rpc: -32603, http: 502 },
  model_authentication: { exit: 1, rpc: -32009, http: 502 },
  model_unavailable: { exit: 1, rpc: -32009, http: 502 },
  model_context_too_long: { exit: 1, rpc: -32008, http: 422 },
  model_refused: { exit: 1, rpc: -32008, http: 422 },
  model_rejected: { exit: 1, rpc: -32008, http: 502 },
  model_malformed: { exit: 1, rpc: -32603, http: 502 },
  model_timeout: { exit: 1, rpc: -32603, http: 504 },
  model_cancelled: { exit: 1, rpc: -32008, http: 409 },
  audit_broken: { exit: 1, rpc: -32603, http: 500 },
  unit_of_work: { exit: 1, rpc: -32603, http: 500 },
  store_busy: { exit: 1, rpc: -32603, http: 503 },
  store_full: { exit: 1, rpc: -32603, http: 507 },
  store_read_only: { exit: 1, rpc: -32603, http: 500 },
  store_corrupt: { exit: 1, rpc: -32603, http: 500 },
  store_too_new: { exit: 1, rpc: -32007, http: 500 },
  store_failed: { exit: 1, rpc: -32603, http: 500 },
  not_authenticated: { exit: 1, rpc: -32010, http: 401 },
  not_allowed: { exit: 1, rpc: -32010, http: 403 },
  wrong_method: { exit: 2, rpc: -32601, http: 405 },
  request_too_large: { exit: 2, rpc: -32602, http: 413 },
  wrong_media_type: { exit: 2, rpc: -32602, http: 415 },
  too_many_attempts: { exit: 1, rpc: -32010, http: 429 },
  server_busy: { exit: 1, rpc: -32603, http: 503 },
  internal: { exit: 1, rpc: -32603, http: 500 },
} as const satisfies Record<string, { exit: 1 | 2 | 3 | 4 | 5; rpc: number; http: number }>;

/** The kind of a failure; one table says what each means to a shell, to JSON-RPC and to HTTP. */
export type ErrorCode = keyof typeof ERROR_TABLE;
type ErrorMeaning = (typeof ERROR_TABLE)[ErrorCode];

/** The parts of an error besides its code and its sentence. */
export interface ErrorExtras {
  /** The things that are still there although this failed. */
  readonly kept?: string;
  /** The operations the caller can run next. */
  readonly next?: readonly NextStep[];
  /** Machine-readable facts, part of the error envelope. */
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Base of all errors that are part of the interface. Anything else that escapes is a defect. */
export class AgentsError extends Error {
  readonly code: ErrorCode;
  readonly kept: string | undefined;
  readonly next: readonly NextStep[];
  readonly detail: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = new.target.name;
    this.code = code;
    this.kept = extras.kept;
    this.next = extras.next ?? [];
    this.detail = extras.detail ?? {};
  }

  get meaning(): ErrorMeaning {
    return ERROR_TABLE[this.code];
  }
}

/** The words of a command are off. */
export class UsageError extends AgentsError {
  constructor(message: string, extras: ErrorExtras = {}) {
    super("usage", message, extras);
  }
}

/** One problem of an input, and where it is. */
export interface ValidationIssue {
  /** Where in the input, dotted: `arguments.0.min`. */
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** The problems in one line; a path is named unless the message already does. */
export function listIssues(issues: readonly ValidationIssue[]): string {
  return issues.map(({ path, message }) => (path === "" ? message : `${safePath(path)}: ${message}`)).join("; ");
}

/** A path may hold a key from a user's file: it is quoted and cut unless it is a plain word. */
function safePath(path: string): string {
  return /^[\w.-]{1,100}$/.test(path) ? path : shown(path);
}

/** Input that was refused before anything was written. Carries every problem found, not only the first. */
export class ValidationError extends AgentsError {
  readonly issues: readonly ValidationIssue[];

  constructor(message: string, issues: readonly ValidationIssue[], extras: ErrorExtras = {}) {
    super("validation", message, { kept: "Nothing was written.", ...extras, detail: { ...extras.detail, issues } });
    this.issues = issues;
  }
}

/** A name or id that nothing has. */
export class NotFoundError extends AgentsError {
  constructor(kind: string, id: string, extras: ErrorExtras = {}) {
    super("not_found", `There is no ${kind} "${id}".`, { ...extras, detail: { kind, id, ...extras.detail } });
  }
}

/** Another process was first. `expected` is the state the caller relied on, `actual` the state in the store now. */
export class ConflictError extends AgentsError {
  readonly expected: unknown;
  readonly actual: unknown;

  constructor(
    message: string,
    facts: {
      expected: unknown;
      actual: unknown;
      code?: Extract<ErrorCode, "conflict" | "already_exists" | "invalid_transition">;
    },
    extras: ErrorExtras = {},
  ) {
    const { expected, actual, code = "conflict" } = facts;
    super(code, message, { ...extras, detail: { expected, actual, ...extras.detail } });
    this.expected = expected;
    this.actual = actual;
  }
}

/** The lease this write relied on is no longer held: another epoch, or its expiry has passed. Nothing was written. */
export class StaleLeaseError extends AgentsError {
  constructor(message: string, extras: ErrorExtras = {}) {
    super("stale_lease", message, { kept: "Nothing was written.", ...extras });
  }
}

/** A request that contradicts the plan's own scope, such as a change recorded outside any changeset. */
export class PlanError extends AgentsError {
  constructor(message: string, extras: ErrorExtras = {}) {
    super("plan", message, { kept: "Nothing was recorded.", ...extras });
  }
}

/** A decision that does not belong into the phase the plan is in. */
export class DecisionPhaseViolationError extends AgentsError {
  constructor(facts: { readonly type: string; readonly phase: string; readonly allowed: readonly string[] }) {
    const { type, phase, allowed } = facts;
    super(
      "decision_phase",
      `A decision of the type ${type} cannot be made while the plan is in ${phase} (allowed: ${allowed.join(", ")}).`,
      {
        kept: "Nothing was recorded.",
        detail: { decision_type: type, plan_phase: phase, allowed_types: allowed },
      },
    );
  }
}

/** The worker of a step cannot finish it as things are. Its work is kept, and it continues when the user asks. */
export class StuckError extends AgentsError {
  constructor(message: string, extras: ErrorExtras = {}) {
    super("stuck", message, { kept: "Everything that was done before is recorded.", ...extras });
  }
}

/** A call was not sent because it could cost more than a budget has left, or because what it costs is not known. */
export class BudgetError extends AgentsError {
  constructor(
    code: Extract<ErrorCode, "budget_exceeded" | "price_unknown">,
    message: string,
    extras: ErrorExtras = {},
  ) {
    super(code, message, { kept: "Nothing was sent; everything recorded before is kept.", ...extras });
  }
}

/** The plan waits for a person's answer. */
export class AwaitingInputError extends AgentsError {
  constructor(message: string, extras: ErrorExtras = {}) {
    super("awaiting_input", message, { kept: "Everything recorded so far is kept.", ...extras });
  }
}

/** The circuit breaker rejects calls of this name for now. */
export class BreakerOpenError extends AgentsError {
  constructor(name: string, extras: ErrorExtras = {}) {
    super("breaker_open", `"${name}" is switched off for now because it kept failing.`, {
      ...extras,
      detail: { name },
    });
  }
}

/** More names than the breaker's table was made for. */
export class BreakerFullError extends AgentsError {
  constructor(capacity: number) {
    super("breaker_full", `The circuit breaker's table of ${capacity} names is full.`, { detail: { capacity } });
  }
}

/** A setting, a file or a variable of the user is wrong. */
export class ConfigurationError extends AgentsError {
  constructor(message: string, extras: ErrorExtras = {}) {
    super("configuration", message, extras);
  }
}

/** The audit log does not verify. `detail` names the first broken entry. */
export class AuditBrokenError extends AgentsError {
  constructor(message: string, extras: ErrorExtras = {}) {
    super("audit_broken", message, extras);
  }
}

/** A unit of work broke the rules of the store: it waited for something else, or was used outside its transaction. */
export class UnitOfWorkError extends AgentsError {
  constructor(message: string) {
    super("unit_of_work", message, { kept: "The unit was rolled back; nothing of it was written." });
  }
}

/** The database itself failed: busy for too long, full disk, read-only, corrupt, or of a newer program. */
export class StoreError extends AgentsError {
  constructor(code: Extract<ErrorCode, `store_${string}`>, message: string, extras: ErrorExtras = {}) {
    super(code, message, extras);
  }
}
