import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { parseQualifiedName, type QualifiedName } from "../../domain/names/qualified-name.ts";
import { PHASES, STATES, type State } from "../../domain/plan/transitions.ts";
import { countPlans } from "../../store/tables/plan-summaries.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { ListedPlan, listedPlans, projectsHere, searchPlans, type StandingPlan } from "../queries/listed-plans.ts";

const DEFAULT_LIMIT = 50;

const Input = z.strictObject({
  /** Where the caller is: plans of this repository or directory come first. */
  directory: z.string().optional(),
  here: z.boolean().default(false),
  regex: z.string().optional(),
  phase: z.enum(PHASES).optional(),
  state: z.enum(STATES).optional(),
  project: z.string().optional(),
  action: z.string().optional(),
  limit: z.int().min(1).max(100_000).default(DEFAULT_LIMIT),
});

export const operation = defineOperation({
  input: Input,
  output: z.strictObject({
    plans: z.array(ListedPlan),
    filters: z.strictObject({
      phase: z.string().nullable(),
      state: z.string().nullable(),
      project: z.string().nullable(),
      action: z.string().nullable(),
      regex: z.string().nullable(),
    }),
    summary: z.strictObject({
      total: z.int(),
      shown: z.int(),
      queued: z.int(),
      processing: z.int(),
      completed: z.int(),
      constrained: z.int(),
      errored: z.int(),
      cancelled: z.int(),
    }),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app, input) => {
    const { limit, regex, directory, here, ...query } = input;
    const pattern = parsePattern(regex);
    const name = (text: string | undefined, field: string): QualifiedName | undefined =>
      text === undefined ? undefined : parseQualifiedName(text, field);
    const filter = {
      phase: query.phase,
      state: query.state,
      action: name(query.action, "action"),
      project: name(query.project, "project"),
    };
    const fits = pattern === undefined ? undefined : (found: StandingPlan) => matches(found, pattern);
    const first = await projectsHere(app, directory);
    const { plans, counts } = await (
      await app.store()
    ).read(async (reader) => {
      const found = await searchPlans(reader, { filter, first, only: here, limit, fits });
      return {
        plans: await listedPlans(reader, found),
        counts: await countPlans(reader, here ? { ...filter, among: first } : filter),
      };
    });
    const of = (state: State): number => counts.get(state) ?? 0;
    const total = [...counts.values()].reduce((sum, one) => sum + one, 0);
    return {
      plans,
      filters: {
        phase: query.phase ?? null,
        state: query.state ?? null,
        project: query.project ?? null,
        action: query.action ?? null,
        regex: pattern?.source ?? null,
      },
      summary: {
        total,
        shown: plans.length,
        queued: of("queued"),
        processing: of("processing"),
        completed: of("complete") + of("applied"),
        constrained: of("constrained"),
        errored: of("errored"),
        cancelled: of("cancelled"),
      },
      ...(total === 0 ? { nextSteps: [nextStep("run", { request: "<what you want done>" })] } : {}),
    };
  },
});

function matches({ plan, standing }: StandingPlan, pattern: RegExp): boolean {
  const { id, name, action, projects, description } = plan;
  return pattern.test([id, name, action, ...projects, standing, description].join("\n"));
}

function parsePattern(text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined;
  try {
    return new RegExp(text, "iu");
  } catch (error) {
    throw new UsageError(`"${text}" is not a regular expression: ${error instanceof Error ? error.message : ""}.`);
  }
}
