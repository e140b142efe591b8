/** An assembled context as outputs show it: what went in, what was left out, and why. */
import * as z from "zod";
import type { IndexedPlace } from "../../context/front/index-places.ts";
import type { AssembledContext, ScoredFragment } from "../../context/model/context-model.ts";
import { compareDetail, DETAIL_LEVELS, type DetailLevel } from "../../domain/context/detail-level.ts";

export const BudgetFacts = z.strictObject({
  modelWindow: z.int(),
  responseReserve: z.int(),
  toolDefinitions: z.int(),
  systemPrompt: z.int(),
  availableBudget: z.int(),
  used: z.int(),
  utilization: z.number(),
  source: z.string(),
});

export const StrategyFacts = z.strictObject({
  name: z.string(),
  quality: z.number(),
  confidence: z.number(),
  budgetPct: z.number(),
  budgetTokens: z.int(),
  /** How many it found in all; null when it did not get to the end. */
  found: z.int().nullable(),
  /** How many of them went in. */
  fragments: z.int(),
  status: z.string(),
  durationMs: z.number().nullable(),
});

const FragmentFacts = z.strictObject({
  entity: z.string(),
  depth: z.int(),
  depthName: z.enum(DETAIL_LEVELS),
  tokens: z.int(),
  score: z.number(),
  relevance: z.number(),
  scoreBreakdown: z.record(z.string(), z.number()),
  strategies: z.array(z.string()).readonly(),
  reason: z.string(),
  provenance: z
    .strictObject({
      resource: z.string(),
      path: z.string(),
      startLine: z.int(),
      endLine: z.int(),
      hash: z.string(),
    })
    .nullable(),
});

const GapFacts = z.strictObject({ kind: z.string(), name: z.string(), reason: z.string() });

/** The part that every output about an assembled context has. */
export const ContextDetails = z.strictObject({
  context: z.strictObject({
    hash: z.string(),
    tokens: z.int(),
    tokenizer: z.string(),
    fragments: z.array(FragmentFacts),
  }),
  maskedFiles: z.array(z.string()),
  excluded: z.array(
    z.strictObject({
      entity: z.string(),
      strategies: z.array(z.string()).readonly(),
      tokens: z.int(),
      reason: z.string(),
    }),
  ),
  gaps: z.array(GapFacts),
  trace: z.array(
    z.strictObject({
      stage: z.string(),
      component: z.string(),
      in: z.int(),
      out: z.int(),
      durationMs: z.int(),
      note: z.string().nullable(),
    }),
  ),
});

export const IndexFacts = z.strictObject({
  resource: z.string(),
  path: z.string(),
  files: z.int(),
  added: z.int(),
  changed: z.int(),
  removed: z.int(),
  gaps: z.int(),
  rebuilt: z.string().nullable(),
  durationMs: z.int(),
});

export function budgetFacts({ budget, tokens }: AssembledContext, source: string): z.output<typeof BudgetFacts> {
  return {
    modelWindow: budget.modelWindow,
    responseReserve: budget.responseReserve,
    toolDefinitions: budget.toolDefinitions,
    systemPrompt: budget.systemPrompt,
    availableBudget: budget.available,
    used: tokens,
    utilization: utilization(tokens, budget.available),
    source,
  };
}

export function utilization(used: number, available: number): number {
  return available === 0 ? 0 : rounded(used / available);
}

export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

export function strategyFacts(assembled: AssembledContext): z.output<typeof StrategyFacts>[] {
  const total = assembled.strategies.reduce((sum, { tokens }) => sum + tokens, 0);
  return assembled.strategies.map(({ name, quality, confidence, tokens }) => ({
    name,
    quality,
    confidence: rounded(confidence),
    budgetPct: total === 0 ? 0 : rounded((100 * tokens) / total),
    budgetTokens: tokens,
    found: foundBy(assembled, name) ?? null,
    fragments: contributed(assembled, name).length,
    status: statusOf(assembled, name),
    durationMs: durationOf(assembled, name),
  }));
}

/** The fragments that went in and that this strategy found, alone or with others. */
export function contributed({ fragments }: AssembledContext, strategy: string): ScoredFragment[] {
  return fragments.filter(({ strategies }) => strategies.includes(strategy));
}

export function statusOf({ outcomes }: AssembledContext, strategy: string): string {
  const outcome = outcomes.find((candidate) => candidate.strategy === strategy);
  if (outcome === undefined) return "not run";
  if (outcome.status === "skipped") return `skipped: ${outcome.reason}`;
  return outcome.status === "failed" ? `failed: ${outcome.reason}` : outcome.status;
}

/** Null when it was not run to an end. */
function durationOf({ outcomes }: AssembledContext, strategy: string): number | null {
  const outcome = outcomes.find((candidate) => candidate.strategy === strategy);
  return outcome !== undefined && "durationMs" in outcome ? outcome.durationMs : null;
}

/** How much a strategy found in all; undefined when it did not get to the end. */
export function foundBy({ outcomes }: AssembledContext, strategy: string): number | undefined {
  const outcome = outcomes.find((candidate) => candidate.strategy === strategy);
  return outcome?.status === "ran" ? outcome.fragments : undefined;
}

export function contextDetails(assembled: AssembledContext): z.output<typeof ContextDetails> {
  const { hash, tokens, tokenizer, fragments, masked, excluded, gaps, trace } = assembled;
  return {
    context: { hash, tokens, tokenizer, fragments: fragments.map(fragmentFacts) },
    maskedFiles: [...masked],
    excluded: excluded.map(({ entity, strategies, tokens: size, reason }) => ({
      entity,
      strategies,
      tokens: size,
      reason,
    })),
    gaps: gaps.map(({ kind, name, reason }) => ({ kind, name, reason })),
    trace: trace.map(({ stage, component, in: given, out, durationMs, note }) => ({
      stage,
      component,
      in: given,
      out,
      durationMs: Math.round(durationMs),
      note: note ?? null,
    })),
  };
}

function fragmentFacts(fragment: ScoredFragment): z.output<typeof FragmentFacts> {
  const { entity, level, tokens, score, relevance, breakdown, strategies, reason, provenance } = fragment;
  const parts = Object.entries(breakdown).map(([name, value]) => [name, rounded(value)] as const);
  return {
    entity,
    depth: depthNumber(level),
    depthName: level,
    tokens,
    score: rounded(score),
    relevance: rounded(relevance),
    scoreBreakdown: Object.fromEntries(parts),
    strategies,
    reason,
    provenance:
      provenance === undefined
        ? null
        : {
            resource: provenance.resource,
            path: provenance.path,
            startLine: provenance.startLine,
            endLine: provenance.endLine,
            hash: provenance.hash,
          },
  };
}

export function indexFacts(indexed: readonly IndexedPlace[]): z.output<typeof IndexFacts>[] {
  return indexed.map(({ place, result, durationMs }) => ({
    resource: place.resource,
    path: place.root,
    files: result.files,
    added: result.added,
    changed: result.changed,
    removed: result.removed,
    gaps: result.gaps.length,
    rebuilt: result.rebuilt ?? null,
    durationMs: Math.round(durationMs),
  }));
}

/** A level's position, beside its name. */
export function depthNumber(level: DetailLevel): number {
  return compareDetail(level, DETAIL_LEVELS[0]);
}

/** Why nothing is in a context; undefined when something is. An empty answer always says why. */
export function emptyReason(facts: {
  readonly query: string;
  readonly budget: z.output<typeof BudgetFacts>["availableBudget"];
  readonly strategies: readonly string[];
  readonly index: readonly z.output<typeof IndexFacts>[];
  readonly details: Pick<z.output<typeof ContextDetails>, "context" | "excluded">;
}): string | undefined {
  const { query, budget, strategies, index, details } = facts;
  if (details.context.fragments.length > 0) return undefined;
  const { excluded } = details;
  if (excluded.some(({ reason }) => reason === "budget" || reason === "too small")) {
    const left = excluded.length === 1 ? "1 fragment" : `${excluded.length} fragments`;
    return `Nothing fits into ${budget} ${budget === 1 ? "token" : "tokens"}: ${left} left out. Give it a larger --budget.`;
  }
  if (budget === 0) return "The budget leaves no token for the context.";
  const files = index.reduce((sum, one) => sum + one.files, 0);
  const words = query === "" ? "" : ` for "${query}"`;
  const where = `${files} ${files === 1 ? "file" : "files"} by ${strategies.join(", ") || "no strategy"}`;
  return `Nothing was found${words} in ${where}. Try other words, names from the code, or --focus <path>.`;
}
