import { UsageError, ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { globProblem } from "./glob-rules.ts";
import { nearest } from "../text/suggest.ts";
import { shown } from "../text/text.ts";

/**
 * The parts of a project that models may see, by view. A view that leaves a setting out takes it from the one before
 * it: default, then strategize, execute. Limits are on unless the user lifts them.
 */
export const CONTEXT_VIEWS = ["default", "strategize", "execute"] as const;
export type ContextView = (typeof CONTEXT_VIEWS)[number];

/** The settings of one view itself; null lifts a limit, undefined inherits. */
export interface ViewPolicy {
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  /** In bytes. */
  readonly maxFileSize?: number | null | undefined;
  readonly maxTotalSize?: number | null | undefined;
  readonly maxFiles?: number | null | undefined;
  /** Names of the strategies that may be selected. */
  readonly strategies?: readonly string[] | undefined;
  /** Tokens for the context. */
  readonly budget?: number | undefined;
}

export const POLICY_SETTINGS = [
  "include",
  "exclude",
  "maxFileSize",
  "maxTotalSize",
  "maxFiles",
  "strategies",
  "budget",
] as const satisfies readonly (keyof ViewPolicy)[];
export type PolicySetting = (typeof POLICY_SETTINGS)[number];

export type ContextPolicy = Readonly<Partial<Record<ContextView, ViewPolicy>>>;

/** A view with everything settled, and which view each setting is from ("built in" for a setting that no view sets). */
export interface ResolvedView {
  readonly view: ContextView;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly maxFileSize: number | undefined;
  readonly maxTotalSize: number | undefined;
  readonly maxFiles: number | undefined;
  readonly strategies: readonly string[] | undefined;
  readonly budget: number | undefined;
  readonly from: Readonly<Record<PolicySetting, ContextView | "built in">>;
}

export const DEFAULT_MAX_FILE_SIZE = 1_048_576;
export const DEFAULT_MAX_TOTAL_SIZE = 52_428_800;

const MOST_PATTERNS = 100;
const MOST_STRATEGIES = 50;

/** The chain a view inherits along, itself first. */
export function viewChain(view: ContextView): readonly ContextView[] {
  return CONTEXT_VIEWS.slice(0, CONTEXT_VIEWS.indexOf(view) + 1).toReversed();
}

export function parseView(text: string): ContextView {
  const view = CONTEXT_VIEWS.find((candidate) => candidate === text.toLowerCase());
  if (view !== undefined) return view;
  const suggestion = nearest(text, CONTEXT_VIEWS);
  const meant = suggestion === undefined ? "" : ` — did you mean "${suggestion}"?`;
  throw new UsageError(`There is no view ${shown(text)} (there are: ${CONTEXT_VIEWS.join(", ")})${meant}`, {
    kept: "Nothing was changed.",
    detail: { view: text, ...(suggestion === undefined ? {} : { suggestion }) },
  });
}

/** Checks what one view is to set; every problem is in the one error. `known` are the strategies there are. */
export function checkViewPolicy(policy: ViewPolicy, known: readonly string[]): ViewPolicy {
  const issues: ValidationIssue[] = [];
  for (const key of ["include", "exclude"] as const) {
    const patterns = policy[key] ?? [];
    if (patterns.length > MOST_PATTERNS)
      issues.push({ path: key, message: `${key} has more than ${MOST_PATTERNS} patterns` });
    for (const pattern of patterns.slice(0, MOST_PATTERNS)) {
      const problem = globProblem(pattern);
      if (problem !== undefined) issues.push({ path: key, message: problem });
    }
  }
  for (const key of ["maxFileSize", "maxTotalSize", "maxFiles", "budget"] as const) {
    const value = policy[key];
    if (value === undefined || value === null) continue;
    if (Number.isSafeInteger(value) && value >= 1) continue;
    const lift = key === "budget" ? "" : '; "none" lifts the limit';
    issues.push({ path: key, message: `${LABELS[key]} must be a whole number of at least 1, not ${value}${lift}` });
  }
  issues.push(...strategyIssues(policy.strategies ?? [], known));
  if (issues.length > 0)
    throw new ValidationError(
      `The context policy is not valid: ${issues.map(({ message }) => message).join("; ")}.`,
      issues,
    );
  return policy;
}

function strategyIssues(strategies: readonly string[], known: readonly string[]): ValidationIssue[] {
  if (strategies.length > MOST_STRATEGIES)
    return [{ path: "strategies", message: `more than ${MOST_STRATEGIES} strategies are named` }];
  return strategies.flatMap((name, index) => {
    if (strategies.indexOf(name) !== index) return [{ path: "strategies", message: `${shown(name)} is named twice` }];
    if (known.includes(name)) return [];
    const suggestion = nearest(name, known);
    const message = `there is no strategy ${shown(name)} (there are: ${known.join(", ")})`;
    return [{ path: "strategies", message, ...(suggestion === undefined ? {} : { suggestion }) }];
  });
}

const LABELS = {
  maxFileSize: "the largest file size",
  maxTotalSize: "the total size",
  maxFiles: "the number of files",
  budget: "the budget",
} as const;

/** A view as it works: each setting from the nearest view that has it, else what is built in. */
export function resolveView(policy: ContextPolicy, view: ContextView): ResolvedView {
  const chain = viewChain(view);
  const origin = (setting: PolicySetting): ContextView | "built in" =>
    chain.find((candidate) => policy[candidate]?.[setting] !== undefined) ?? "built in";
  const from = Object.fromEntries(POLICY_SETTINGS.map((setting) => [setting, origin(setting)])) as ResolvedView["from"];
  const value = <S extends PolicySetting>(setting: S): ViewPolicy[S] | undefined => {
    const where = from[setting];
    return where === "built in" ? undefined : policy[where]?.[setting];
  };
  const limit = (setting: "maxFileSize" | "maxTotalSize" | "maxFiles", builtIn?: number): number | undefined => {
    const set = value(setting);
    return set === undefined ? builtIn : (set ?? undefined);
  };
  return {
    view,
    include: value("include") ?? [],
    exclude: value("exclude") ?? [],
    maxFileSize: limit("maxFileSize", DEFAULT_MAX_FILE_SIZE),
    maxTotalSize: limit("maxTotalSize", DEFAULT_MAX_TOTAL_SIZE),
    maxFiles: limit("maxFiles"),
    strategies: value("strategies"),
    budget: value("budget"),
    from,
  };
}

const SIZE_UNITS: Readonly<Record<string, number>> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
const COUNT_UNITS: Readonly<Record<string, number>> = { "": 1, k: 1_000, m: 1_000_000 };

/** "512k", "1m", "1.5 MiB" in bytes; null for "none". */
export function parseSizeLimit(text: string, option: string): number | null {
  if (isNone(text)) return null;
  return quantity(text, option, SIZE_UNITS, "a size like 512k, 1m or 2g, or none");
}

/** "500", "10k"; null for "none". */
export function parseCountLimit(text: string, option: string): number | null {
  if (isNone(text)) return null;
  return quantity(text, option, COUNT_UNITS, "a number like 500 or 10k, or none");
}

/** "8000", "32k" (which is 32,000: never more than a window of that name holds). May be 0 where `least` says so. */
export function parseTokens(text: string, option: string, least = 1): number {
  return quantity(text, option, COUNT_UNITS, "a number of tokens like 8000 or 32k", least);
}

function isNone(text: string): boolean {
  return text.trim().toLowerCase() === "none";
}

function quantity(
  text: string,
  option: string,
  units: Readonly<Record<string, number>>,
  expected: string,
  least = 1,
): number {
  const match = /^(-?\d+(?:\.\d+)?)\s*([a-z]?)(?:i?b)?$/i.exec(text.trim());
  const unit = units[match?.[2]?.toLowerCase() ?? "?"];
  const value = unit === undefined ? Number.NaN : Math.round(Number(match?.[1]) * unit);
  if (Number.isSafeInteger(value) && value >= least) return value;
  const why = Number.isSafeInteger(value) ? `it must be at least ${least}` : `it must be ${expected}`;
  throw new UsageError(`${option} ${shown(text)} cannot be used: ${why}.`, { kept: "Nothing was changed." });
}
