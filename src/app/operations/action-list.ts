import * as z from "zod";
import { ACTION_STATES } from "../../domain/action/action-state.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({ namespace: z.string().optional(), state: z.enum(ACTION_STATES).optional() }),
  output: z.strictObject({
    actions: z.array(
      z.strictObject({
        name: z.string(),
        state: z.enum(ACTION_STATES),
        strategyActor: z.string().nullable(),
        executionActor: z.string().nullable(),
        reusable: z.boolean(),
        plans: z.int(),
      }),
    ),
    filters: z.strictObject({ state: z.string().nullable(), namespace: z.string().nullable() }),
    summary: z.strictObject({
      total: z.int(),
      available: z.int(),
      archived: z.int(),
      totalPlansCreated: z.int(),
    }),
  }),
  run: async (app, { namespace, state }) => {
    const actions = await (await app.plans()).listActions({ namespace, state });
    const available = actions.filter((action) => action.state === "available").length;
    return {
      actions: actions.map((action) => ({
        name: action.name,
        state: action.state,
        strategyActor: action.actors.strategy ?? null,
        executionActor: action.actors.execution ?? null,
        reusable: action.reusable,
        plans: action.plans,
      })),
      filters: { state: state ?? null, namespace: namespace ?? null },
      summary: {
        total: actions.length,
        available,
        archived: actions.length - available,
        totalPlansCreated: actions.reduce((sum, { plans }) => sum + plans, 0),
      },
    };
  },
});
