import * as z from "zod";
import type { AssembledContext } from "../../context/model/context-model.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { InspectInput, inspectContext } from "../procedures/inspect-context.ts";
import {
  ContextDetails,
  contextDetails,
  contributed,
  depthNumber,
  foundBy,
  IndexFacts,
  indexFacts,
  rounded,
  statusOf,
  StrategyFacts,
  strategyFacts,
  utilization,
} from "../queries/context-facts.ts";

const TOP = 5;

const StrategyResult = z.strictObject({
  name: z.string(),
  confidence: z.number(),
  budgetTokens: z.int(),
  fragments: z.int(),
  status: z.string(),
  top: z.array(z.strictObject({ path: z.string(), depth: z.int(), tokens: z.int(), score: z.number() })),
});

export const operation = defineOperation({
  input: InspectInput,
  output: ContextDetails.extend({
    simulation: z.strictObject({
      project: z.string().nullable(),
      view: z.string(),
      query: z.string(),
      budget: z.int(),
      budgetSource: z.string(),
      focus: z.array(z.string()).readonly(),
    }),
    strategyResults: z.array(StrategyResult),
    activeStrategies: z.array(StrategyFacts),
    fusionResult: z.strictObject({
      includedFragments: z.int(),
      includedTokens: z.int(),
      budgetUtilization: z.number(),
      excludedFragments: z.int(),
      excludedTokens: z.int(),
      deduplicatedFragments: z.int(),
    }),
    index: z.array(IndexFacts),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app, input, call) => {
    const { asked, source, assembled, budgetSource, indexed } = await inspectContext(app, input, call);
    const { budget, tokens, fragments, excluded } = assembled;
    const { view } = source.view;
    return {
      simulation: {
        project: source.project ?? null,
        view,
        query: asked.question.query,
        budget: budget.available,
        budgetSource,
        focus: asked.question.focus,
      },
      strategyResults: strategyResults(assembled),
      activeStrategies: strategyFacts(assembled),
      fusionResult: {
        includedFragments: fragments.length,
        includedTokens: tokens,
        budgetUtilization: utilization(tokens, budget.available),
        excludedFragments: excluded.length,
        excludedTokens: excluded.reduce((sum, one) => sum + one.tokens, 0),
        deduplicatedFragments: excluded.filter(({ reason }) => reason === "duplicate").length,
      },
      ...contextDetails(assembled),
      index: indexFacts(indexed),
      nextSteps: [nextStep("project.context.inspect", { project: source.name, view })],
    };
  },
});

function strategyResults(assembled: AssembledContext): z.output<typeof StrategyResult>[] {
  return assembled.strategies.map(({ name, confidence, tokens }) => ({
    name,
    confidence: rounded(confidence),
    budgetTokens: tokens,
    fragments: foundBy(assembled, name) ?? 0,
    status: statusOf(assembled, name),
    top: contributed(assembled, name)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, TOP)
      .map((one) => ({
        path: one.provenance?.path ?? one.entity,
        depth: depthNumber(one.level),
        tokens: one.tokens,
        score: rounded(one.score),
      })),
  }));
}
