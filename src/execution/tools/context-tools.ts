/** The tools by which an actor asks about its plan: context, earlier decisions, and the budget of tokens. */
import * as z from "zod";
import { DECISION_TYPES } from "../../domain/plan/decision.ts";
import { DEFAULT_BREADTH, DEFAULT_DEPTH, parseBackend } from "../../domain/context/context-question.ts";
import { DETAIL_LEVELS } from "../../domain/context/detail-level.ts";
import type { AssembledAnswer } from "./context-port.ts";
import { planTool, type PlanTool } from "./tool.ts";

const words = z.array(z.string().min(1).max(1_000)).max(100);

/** The text, and what is missing from it: a model that is not told takes a part for the whole. */
export function contextAnswer({ text, excluded, gaps }: Pick<AssembledAnswer, "text" | "excluded" | "gaps">): string {
  const missing = gaps
    .filter(({ kind }) => kind === "strategy")
    .map(({ name, reason }) => `[without ${name}: ${reason}]`);
  const more = excluded === 0 ? [] : [`[${excluded} more pieces did not fit; ask more narrowly]`];
  return [text, ...missing, ...more].join("\n");
}

/**
 * The questions that an actor may ask about its plan. None of the tools writes, and none sees more than the plan's
 * own resources.
 */
export const CONTEXT_TOOLS: readonly PlanTool[] = [
  planTool({
    name: "request_context",
    description: "Get the parts of the code that matter for a question, within the plan's token budget",
    writes: false,
    parameters: z.strictObject({
      query: z.string().max(10_000).default(""),
      entities: words.default([]),
      focus: words.default([]),
      breadth: z.int().min(0).max(10).optional(),
      depth: z.enum(DETAIL_LEVELS).optional(),
      strategy: z.string().min(1).max(100).optional(),
      preferred_strategies: words.default([]),
      required_backends: words.default([]),
      budget: z.int().min(1).optional(),
      resource: z.string().min(1).max(200).optional(),
    }),
    text: contextAnswer,
    ask: ({ query, entities, focus, breadth, depth, strategy, budget, resource, ...rest }, { port, signal }) =>
      port.requestContext(
        {
          query,
          entities,
          focus,
          breadth: breadth ?? DEFAULT_BREADTH,
          depth: depth ?? DEFAULT_DEPTH,
          strategy,
          preferredStrategies: rest.preferred_strategies,
          requiredBackends: rest.required_backends.map(parseBackend),
        },
        { budget, resources: resource === undefined ? undefined : [resource] },
        signal,
      ),
  }),
  planTool({
    name: "query_history",
    description: "Find earlier decisions of the plan and what became of them",
    writes: false,
    parameters: z.strictObject({
      query: z.string().max(1_000).default(""),
      type: z.enum(DECISION_TYPES).optional(),
      limit: z.int().min(1).max(1_000).default(20),
    }),
    ask: ({ query, type, limit }, { port }) => port.queryHistory({ query, type, limit }),
  }),
  planTool({
    name: "get_context_budget",
    description: "Show how many tokens of context the plan may use, and what they are kept for",
    writes: false,
    parameters: z.strictObject({}),
    ask: (_, { port }) => port.contextBudget(),
  }),
];
