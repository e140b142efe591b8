import type { AssembledContext, Exclusion, ScoredFragment } from "../context/model.ts";
import { depthNumber } from "./context-request.ts";

/** An assembled context for machines. The names are the reference's; keys are stable. */
export function budgetData({ budget, tokens }: AssembledContext, source: string): Record<string, unknown> {
  const base = budget.skeletonReserve + budget.available;
  return {
    model_window: budget.modelWindow,
    response_reserve: budget.responseReserve,
    tool_definitions: budget.toolDefinitions,
    system_prompt: budget.systemPrompt,
    skeleton_reserve: budget.skeletonReserve,
    skeleton_ratio: base === 0 ? 0 : rounded(budget.skeletonReserve / base),
    available_budget: budget.available,
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

export function activeStrategiesData(assembled: AssembledContext): Record<string, unknown>[] {
  const total = assembled.strategies.reduce((sum, { tokens }) => sum + tokens, 0);
  return assembled.strategies.map(({ name, quality, confidence, tokens }) => ({
    name,
    quality,
    confidence: rounded(confidence),
    budget_pct: total === 0 ? 0 : rounded((100 * tokens) / total),
    budget_tokens: tokens,
    fragments: contributed(assembled, name).length,
    status: statusOf(assembled, name),
    duration_ms: durationOf(assembled, name),
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

function fragmentData(fragment: ScoredFragment): Record<string, unknown> {
  const { entity, level, tokens, score, relevance, breakdown, strategies, reason, provenance } = fragment;
  return {
    entity,
    depth: depthNumber(level),
    depth_name: level,
    tokens,
    score: rounded(score),
    relevance: rounded(relevance),
    score_breakdown: Object.fromEntries(Object.entries(breakdown).map(([name, value]) => [name, rounded(value)])),
    strategies,
    reason,
    provenance:
      provenance === undefined
        ? null
        : {
            resource: provenance.resource,
            path: provenance.path,
            start_line: provenance.startLine,
            end_line: provenance.endLine,
            hash: provenance.hash,
          },
  };
}

/** What everything else about an assembly has in common, whichever command shows it. */
export function detailsData(assembled: AssembledContext): Record<string, unknown> {
  const { hash, tokens, tokenizer, fragments, masked, excluded, gaps, trace } = assembled;
  return {
    context: { hash, tokens, tokenizer, fragments: fragments.map(fragmentData) },
    masked_files: [...masked],
    excluded: excluded.map((one) => ({ ...one })),
    gaps: gaps.map((gap) => ({ ...gap })),
    trace: trace.map((stage) => ({
      stage: stage.stage,
      component: stage.component,
      in: stage.in,
      out: stage.out,
      duration_ms: Math.round(stage.durationMs),
      note: stage.note ?? null,
    })),
  };
}

export interface ExclusionCount {
  readonly reason: Exclusion["reason"];
  readonly fragments: number;
  readonly tokens: number;
}

export function exclusionCounts(excluded: readonly Exclusion[]): ExclusionCount[] {
  return [...Map.groupBy(excluded, ({ reason }) => reason)].map(([reason, all]) => ({
    reason,
    fragments: all.length,
    tokens: all.reduce((sum, { tokens }) => sum + tokens, 0),
  }));
}
