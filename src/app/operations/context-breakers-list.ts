import * as z from "zod";
import { listBreakers } from "../../context/breaker/breaker-record.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { BreakerFacts, breakerFacts } from "../queries/breaker-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({
    breakers: z.array(BreakerFacts),
    summary: z.strictObject({ total: z.int(), open: z.int() }),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app) => {
    const all = await listBreakers(await app.store());
    const open = all.filter(({ state }) => state !== "closed").length;
    return {
      breakers: all.map(breakerFacts),
      summary: { total: all.length, open },
      ...(open === 0 ? {} : { nextSteps: [nextStep("context.breakers.reset", { strategy: "<strategy>" })] }),
    };
  },
});
