/**
 * The interface of a strategy for its author, and the messages that carry one call of it to a worker thread and back.
 */
import type { CircuitBreaker, SharedBreaker } from "../breaker/circuit-breaker.ts";

/** A piece of context. Further fields are the strategy's own; all must survive a structured clone. */
export interface Fragment {
  readonly content: string;
  readonly tokens: number;
  readonly [key: string]: unknown;
}

/** The facts that a strategy gets besides the request. */
export interface StrategyContext {
  /** The budget given to this strategy. */
  readonly tokens: number;
  /** Aborted when the deadline has passed or the caller gave up; the thread is terminated shortly after. */
  readonly signal: AbortSignal;
  /** The breaker of the executor, shared across threads; for services that the strategy itself depends on. */
  readonly breaker: CircuitBreaker;
}

/** The function a strategy module exports. It runs in a worker thread. */
export type Strategy<Request> = (
  request: Request,
  context: StrategyContext,
) => readonly Fragment[] | Promise<readonly Fragment[]>;

export interface StrategyCall {
  /** URL of the module. */
  readonly module: string;
  readonly exportName: string;
  readonly tokens: number;
  readonly request: unknown;
}

export interface StrategyWorkerData {
  readonly breaker: SharedBreaker;
  /** Modules to load at once. One that cannot be loaded fails when it is asked for. */
  readonly preload: readonly string[];
}

export type WorkerCommand =
  | { readonly kind: "run"; readonly id: number; readonly call: StrategyCall }
  | { readonly kind: "abort"; readonly id: number }
  | { readonly kind: "stop" };

export type StrategyReply =
  | { readonly kind: "returned"; readonly fragments: readonly Fragment[] }
  | { readonly kind: "failed"; readonly reason: string };

export type WorkerMessage = { readonly kind: "ready" } | (StrategyReply & { readonly id: number });

/**
 * Reads a message from a thread. A strategy shares the port with us and might post anything: a foreign message is
 * undefined. Copying drops inherited properties, so fragments are checked once more on arrival.
 */
export function parseWorkerMessage(value: unknown): WorkerMessage | undefined {
  if (typeof value !== "object" || value === null || !("kind" in value)) return undefined;
  if (value.kind === "ready") return { kind: "ready" };
  if (!("id" in value) || typeof value.id !== "number") return undefined;
  const { id } = value;
  if (value.kind === "failed") {
    const reason =
      "reason" in value && typeof value.reason === "string" ? value.reason : "threw an error without a message";
    return { kind: "failed", id, reason };
  }
  if (value.kind !== "returned" || !("fragments" in value)) return undefined;
  const { fragments } = value;
  if (areFragments(fragments)) return { kind: "returned", id, fragments };
  return { kind: "failed", id, reason: fragmentsProblem(fragments) ?? "returned no fragments" };
}

function areFragments(value: unknown): value is readonly Fragment[] {
  return fragmentsProblem(value) === undefined;
}

/**
 * Why a value is not a list of fragments, as the end of a sentence that begins with the strategy; undefined if it is
 * one.
 */
export function fragmentsProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return `returned ${nameOf(value)} instead of an array of fragments`;
  const items: readonly unknown[] = value;
  for (const [index, item] of items.entries()) {
    if (typeof item !== "object" || item === null) return `returned ${nameOf(item)} as fragment ${index}`;
    if (!("content" in item) || typeof item.content !== "string")
      return `returned fragment ${index} without text content`;
    if (!("tokens" in item) || !Number.isSafeInteger(item.tokens) || Number(item.tokens) < 0) {
      return `returned fragment ${index} without a token count`;
    }
  }
  return undefined;
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}
