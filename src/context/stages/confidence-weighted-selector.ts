/**
 * Asks every strategy how well it can serve the request. Those that say "not at all" are left out; those that could but lack what they
 * need are named as a gap. Preferred ones count a quarter more. If nobody is left the plainest strategy serves, so that a question is
 * answered with something.
 */
import { compareText } from "../compare.ts";
import type { Backend, ContextRequest, Gap, PlanKnowledge } from "../model.ts";
import type { ContextStrategy, RankedStrategy, StrategySelector } from "../stages.ts";

const PREFERENCE = 1.25;
const FALLBACK = "simple-keyword";
const FALLBACK_CONFIDENCE = 0.1;

const LACK: Readonly<Record<Backend, string>> = {
  text: "needs a full-text index; there is none",
  graph: "needs a graph of symbols; there is none",
  vector: "needs an embedding model; none is configured",
  decisions: "needs the decisions of a plan; there is no plan",
};

export class ConfidenceWeightedSelector implements StrategySelector {
  readonly name = "ConfidenceWeightedSelector";

  select(
    strategies: readonly ContextStrategy[],
    request: ContextRequest,
    available: ReadonlySet<Backend>,
    plan: PlanKnowledge | undefined,
  ): { selected: readonly RankedStrategy[]; gaps: readonly Gap[] } {
    const selected: RankedStrategy[] = [];
    const gaps: Gap[] = [];
    for (const strategy of strategies) {
      if (request.strategy !== undefined && strategy.name !== request.strategy) continue;
      if (!request.requiredBackends.every((backend) => strategy.needs.includes(backend))) continue;
      const asked = ask(strategy, request, plan);
      if (typeof asked === "string") {
        gaps.push({ kind: "strategy", name: strategy.name, reason: asked });
        continue;
      }
      // Whoever is named is wanted, however little it expects to find.
      const confidence = request.strategy === undefined ? asked : Math.max(asked, FALLBACK_CONFIDENCE);
      if (confidence === 0) continue;
      const lacking = strategy.needs.find((backend) => !available.has(backend));
      if (lacking !== undefined) {
        gaps.push({ kind: "backend", name: strategy.name, reason: LACK[lacking] });
        continue;
      }
      const isPreferred = request.preferredStrategies.includes(strategy.name);
      selected.push({
        name: strategy.name,
        quality: strategy.quality,
        confidence: isPreferred ? Math.min(1, confidence * PREFERENCE) : confidence,
      });
    }
    if (selected.length === 0) fallBack(strategies, available, selected, gaps);
    return { selected: selected.toSorted(byConfidence(request)), gaps };
  }
}

/** From 0 to 1, or what is wrong with the answer. */
function ask(strategy: ContextStrategy, request: ContextRequest, plan: PlanKnowledge | undefined): number | string {
  try {
    const confidence: unknown = strategy.confidence(request, plan);
    if (typeof confidence === "number" && confidence >= 0 && confidence <= 1) return confidence;
    return "gave no confidence from 0 to 1";
  } catch (error) {
    return `could not say how well it can serve: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function fallBack(
  strategies: readonly ContextStrategy[],
  available: ReadonlySet<Backend>,
  selected: RankedStrategy[],
  gaps: Gap[],
): void {
  const plain = strategies.find((strategy) => strategy.name === FALLBACK);
  if (plain?.needs.every((backend) => available.has(backend)) === true) {
    selected.push({ name: plain.name, quality: plain.quality, confidence: FALLBACK_CONFIDENCE });
  } else {
    gaps.push({ kind: "strategy", name: FALLBACK, reason: "no strategy can serve this request" });
  }
}

function byConfidence(request: ContextRequest): (a: RankedStrategy, b: RankedStrategy) => number {
  const preferred = ({ name }: RankedStrategy): number => (request.preferredStrategies.includes(name) ? 1 : 0);
  return (a, b) =>
    b.confidence - a.confidence || preferred(b) - preferred(a) || b.quality - a.quality || compareText(a.name, b.name);
}
