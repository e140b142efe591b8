import * as z from "zod";
import { listBreakers, resetBreakers, type BreakerStatus } from "../../context/breaker/breaker-record.ts";
import { NotFoundError, UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { nearest } from "../../domain/text/suggest.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { BreakerFacts, breakerFacts } from "../queries/breaker-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({
    strategy: z.string().optional(),
    all: z.boolean().default(false),
    project: z.string().optional(),
  }),
  output: z.strictObject({ reset: z.array(BreakerFacts) }),
  run: async (app, { strategy, all, project: named }) => {
    if ((strategy === undefined) === !all) {
      throw new UsageError("Name one strategy, or --all.", {
        kept: "Nothing was changed.",
        next: [nextStep("context.breakers.list")],
      });
    }
    const store = await app.store();
    const known = await listBreakers(store);
    const project = named === undefined ? undefined : await projectOf(app, named, known);
    if (strategy !== undefined) requireKnown(strategy, known);
    return { reset: (await resetBreakers(store, { strategy, project })).map(breakerFacts) };
  },
});

/** A project, or a directory that was packed. */
async function projectOf(app: App, named: string, known: readonly BreakerStatus[]): Promise<string> {
  if (known.some(({ project }) => project === named)) return named;
  return (await (await app.projects()).getProject(named)).name;
}

function requireKnown(strategy: string, known: readonly BreakerStatus[]): void {
  const names = [...new Set(known.map((breaker) => breaker.strategy))];
  if (names.includes(strategy)) return;
  const suggestion = nearest(strategy, names);
  throw new NotFoundError("breaker of a strategy that ever failed", strategy, {
    kept: "Nothing was changed.",
    ...(suggestion === undefined ? {} : { detail: { suggestion } }),
    next: [
      suggestion === undefined
        ? nextStep("context.breakers.list")
        : nextStep("context.breakers.reset", { strategy: suggestion }),
    ],
  });
}
