import * as z from "zod";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import { RUN_ACTION } from "../../runs/run-setup.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { Waiting, waitingPlans } from "../queries/inbox.ts";

const RUN = nextStep("run", { request: "<what you want done>" });
/** Waiting plans that are named. */
const SHOWN = 5;
const HELP: NextStep = { text: "agents --help" };

/** Where things stand and what to do next, for a person who has just arrived. */
export const operation = defineOperation({
  input: z.strictObject({
    /** Where the caller is: plans of this repository come first. */
    directory: z.string().optional(),
  }),
  output: z.discriminatedUnion("initialised", [
    z.strictObject({ initialised: z.literal(false), nextSteps: NextSteps }),
    z.strictObject({
      initialised: z.literal(true),
      actions: z.int(),
      projects: z.int(),
      plans: z.strictObject({ active: z.int(), stopped: z.int(), applied: z.int(), cancelled: z.int() }),
      /** Plans that wait for their user. */
      waiting: z.array(Waiting),
      nextSteps: NextSteps,
    }),
  ]),
  run: async (app, { directory }) => {
    if (!(await app.hasStore())) {
      return { initialised: false as const, nextSteps: [RUN, nextStep("init"), HELP] };
    }
    const service = await app.plans();
    const actions = await service.listActions({ state: "available" });
    const projects = await (await app.projects()).listProjects();
    const { counts } = await service.listPlans({ limit: 1 });
    const of = (state: Parameters<typeof counts.get>[0]): number => counts.get(state) ?? 0;
    const stopped = of("errored") + of("constrained");
    const active = of("queued") + of("processing") + of("complete");
    return {
      initialised: true as const,
      actions: actions.length,
      projects: projects.length,
      plans: { active, stopped, applied: of("applied"), cancelled: of("cancelled") },
      waiting: await waitingPlans(app, directory, SHOWN),
      nextSteps: nextSteps({ actions, projects, stopped, active }),
    };
  },
});

function nextSteps(known: {
  readonly actions: readonly { readonly name: string }[];
  readonly projects: readonly { readonly name: string }[];
  readonly stopped: number;
  readonly active: number;
}): NextStep[] {
  // Requests are what `agents run` is for.
  const action = known.actions.find(({ name }) => name !== RUN_ACTION)?.name;
  const project = known.projects[0]?.name;
  const steps: NextStep[] = [];
  if (known.stopped > 0) steps.push(nextStep("plan.list", { state: "errored" }));
  steps.push(RUN);
  if (action === undefined) steps.push(nextStep("action.create", { definition: { file: "<file>" } }));
  if (project === undefined) steps.push(nextStep("project.create", { project: "<name>" }));
  if (action !== undefined && project !== undefined) steps.push(nextStep("plan.use", { action, projects: [project] }));
  if (known.active > 0) steps.push(nextStep("plan.list"));
  return [...steps, HELP];
}
