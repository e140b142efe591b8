/**
 * Asks every strategy how well it can serve the question. Those that answer "not at all" are left out; those that could
 * but lack a backend are named as a gap. Preferred ones count a quarter more. If none is left the plainest strategy
 * serves, so that a question is answered with something.
 */
import { compareText } from "../model/compare.ts";
import type { Backend, ContextQuestion } from "../../domain/context/context-question.ts";
import type { Gap, PlanKnowledge } from "../model/context-model.ts";
import type { ContextStrategy, RankedStrategy, StrategySelector } from "../model/stage-interfaces.ts";

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
    question: ContextQuestion,
    available: ReadonlySet<Backend>,
    plan: PlanKnowledge | undefined,
  ): { selected: readonly RankedStrategy[]; gaps: readonly Gap[] } {
    const selected: RankedStrategy[] = [];
    const gaps: Gap[] = [];
    for (const strategy of strategies) {
      if (question.strategy !== undefined && strategy.name !== question.strategy) continue;
      if (!question.requiredBackends.every((backend) => strategy.needs.includes(backend))) continue;
      const asked = ask(strategy, question, plan);
      if (typeof asked === "string") {
        gaps.push({ kind: "strategy", name: strategy.name, reason: asked });
        continue;
      }
      // A named strategy is wanted, however little it expects to find.
      const confidence = question.strategy === undefined ? asked : Math.max(asked, FALLBACK_CONFIDENCE);
      if (confidence === 0) continue;
      const lacking = strategy.needs.find((backend) => !available.has(backend));
      if (lacking !== undefined) {
        gaps.push({ kind: "backend", name: strategy.name, reason: LACK[lacking] });
        continue;
      }
      const isPreferred = question.preferredStrategies.includes(strategy.name);
      selected.push({
        name: strategy.name,
        quality: strategy.quality,
        confidence: isPreferred ? Math.min(1, confidence * PREFERENCE) : confidence,
      });
    }
    if (selected.length === 0) fallBack(strategies, available, selected, gaps);
    return { selected: selected.toSorted(byConfidence(question)), gaps };
  }
}

/** From 0 to 1, or the problem with the answer. */
function ask(strategy: ContextStrategy, question: ContextQuestion, plan: PlanKnowledge | undefined): number | string {
  try {
    const confidence: unknown = strategy.confidence(question, plan);
    if (typeof confidence === "number" && confidence >= 0 && confidence <= 1) return confidence;
    return "gave no confidence from 0 to 1";
  } catch (error) {
    return `could not estimate its confidence: ${error instanceof Error ? error.message : String(error)}`;
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
    gaps.push({ kind: "strategy", name: FALLBACK, reason: "no strategy can serve this question" });
  }
}

function byConfidence(question: ContextQuestion): (a: RankedStrategy, b: RankedStrategy) => number {
  const preferred = ({ name }: RankedStrategy): number => (question.preferredStrategies.includes(name) ? 1 : 0);
  return (a, b) =>
    b.confidence - a.confidence || preferred(b) - preferred(a) || b.quality - a.quality || compareText(a.name, b.name);
}
