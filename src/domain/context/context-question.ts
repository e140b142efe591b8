/**
 * The question that a context answers. It is one type on the whole way: the command line and the tools of actors make
 * it, the assembler passes it on, and every strategy reads it.
 */
import { ValidationError } from "../errors/errors.ts";
import { nearest } from "../text/suggest.ts";
import { shown } from "../text/text.ts";
import type { DetailLevel } from "./detail-level.ts";

export const BACKENDS = ["text", "graph", "vector", "decisions"] as const;
export type Backend = (typeof BACKENDS)[number];

export interface ContextQuestion {
  /** The purpose, in words. */
  readonly query: string;
  /** Names that matter: symbols, file names. */
  readonly entities: readonly string[];
  /** Where to start: "path", "alias:path" or "path#symbol". */
  readonly focus: readonly string[];
  /** How many steps to walk from the focus. */
  readonly breadth: number;
  /** How much to show of the most relevant entities. */
  readonly depth: DetailLevel;
  /** Only this strategy. */
  readonly strategy: string | undefined;
  /** Considered before others of the same confidence. */
  readonly preferredStrategies: readonly string[];
  /** Only strategies that need all of these. */
  readonly requiredBackends: readonly Backend[];
  /**
   * `pointers`: where to look rather than the code itself, for a model that has tools to look: ranked files with the
   * reason of each, signatures, and the bodies of the best few pieces. Small budgets are always shown like this.
   */
  readonly rendering?: "pointers" | undefined;
}

/** Up to this many tokens a context is made of pointers: code in full would be too little to answer from. */
export const POINTERS_BUDGET = 4_000;

/** How many steps a question walks from its focus unless it says otherwise. */
export const DEFAULT_BREADTH = 2;
export const DEFAULT_DEPTH: DetailLevel = "full";

export function parseBackend(name: string): Backend {
  const backend = BACKENDS.find((known) => known === name);
  if (backend !== undefined) return backend;
  const message = `There is no backend ${shown(name)} (there are: ${BACKENDS.join(", ")}).`;
  const suggestion = nearest(name, BACKENDS);
  const issue = { path: "required_backends", message, ...(suggestion === undefined ? {} : { suggestion }) };
  throw new ValidationError(message, [issue]);
}
