import * as z from "zod";
import { listBreakers } from "../../context/breaker/breaker-record.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { InspectInput, inspectContext } from "../procedures/inspect-context.ts";
import { BreakerFacts, breakerFacts } from "../queries/breaker-facts.ts";
import {
  BudgetFacts,
  budgetFacts,
  ContextDetails,
  contextDetails,
  depthNumber,
  IndexFacts,
  indexFacts,
  StrategyFacts,
  strategyFacts,
} from "../queries/context-facts.ts";
import { GraphFacts, graphFacts } from "../queries/context-graph.ts";

export const operation = defineOperation({
  input: InspectInput,
  output: ContextDetails.extend({
    inspection: z.strictObject({
      project: z.string().nullable(),
      view: z.string(),
      query: z.string(),
      focus: z.array(z.string()).readonly(),
      breadth: z.int(),
      depth: z.int(),
      depthName: z.string(),
    }),
    ukoGraph: GraphFacts.nullable(),
    activeStrategies: z.array(StrategyFacts),
    budget: BudgetFacts,
    breakers: z.array(BreakerFacts),
    index: z.array(IndexFacts),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app, input, call) => {
    const { asked, source, assembled, budgetSource, scope, indexed } = await inspectContext(app, input, call);
    const { question } = asked;
    const { view } = source.view;
    const breakers = (await listBreakers(await app.store())).filter(({ project }) => project === source.name);
    return {
      inspection: {
        project: source.project ?? null,
        view,
        query: question.query,
        focus: question.focus,
        breadth: question.breadth,
        depth: depthNumber(question.depth),
        depthName: question.depth,
      },
      ukoGraph: graphFacts(scope, question, assembled),
      activeStrategies: strategyFacts(assembled),
      budget: budgetFacts(assembled, budgetSource),
      ...contextDetails(assembled),
      breakers: breakers.map(breakerFacts),
      index: indexFacts(indexed),
      nextSteps: [nextStep("project.context.show", { project: source.name, view })],
    };
  },
});
