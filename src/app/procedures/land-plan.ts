/** Applies, undoes or redoes a plan, after showing what will be written where. */
import * as z from "zod";
import type { Plan } from "../../domain/plan/plan.ts";
import { statusKey } from "../../domain/plan/transitions.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { RunEvent } from "../../domain/run-event.ts";
import { findUndoneSteps } from "../../ledger/journal.ts";
import type { PreparedLandings } from "../../apply/prepare-landings.ts";
import { diffOf } from "../../changes/diff-cache.ts";
import { dependants, stepsOfDecisions } from "../../changes/decided-steps.ts";
import { requireDecision } from "../../changes/decision-outcomes.ts";
import { planChanges } from "../../changes/plan-changes.ts";
import type { App } from "../base/app.ts";
import { confirmed, type Call, type Shown } from "../base/call.ts";
import { Instant, instant, NextSteps } from "../base/schemas.ts";
import { acceptedPart } from "../queries/accepted-part.ts";
import { InPlace, placesOf } from "../queries/in-place.ts";
import { HeldFacts, LandingFacts, landingFacts, landingPreview } from "../queries/landing-facts.ts";
import { PlanFacts, planFacts } from "../queries/plan-facts.ts";
import { commandsHere } from "./confinement-here.ts";

export const Applied = PlanFacts.extend({
  applied: z.literal(true),
  artifacts: z.int(),
  changes: z.strictObject({ insertions: z.int(), deletions: z.int() }),
  /** How many changes of the plan were left out, because its review did not accept them. */
  changesLeft: z.int(),
  appliedAt: Instant,
  landings: z.array(LandingFacts),
  keptFiles: z.array(z.string()).readonly(),
  inPlace: InPlace,
  /** Paths that were changed in place since, by others; they stay as they are. */
  changedSince: z.array(z.string()).readonly(),
  nextSteps: NextSteps,
});

export const NotApplied = z.strictObject({ applied: z.literal(false) });

export type ApplyOutcome = z.output<typeof Applied> | z.output<typeof NotApplied>;

export interface LandPlanOptions {
  /** Only what was accepted in the plan's review. */
  readonly accepted?: boolean;
  /** The branch to make for them, instead of the one that the plan started from. */
  readonly onto?: string | undefined;
  readonly allowEmpty: boolean;
  readonly verify: boolean;
  /** It was agreed to before: do not ask, and do not record an approval. */
  readonly agreed?: boolean;
  /** Shown before the question, besides the preview. */
  readonly shown?: readonly Shown[];
  /** Done after the yes and before anything is written; when it rejects, nothing is. */
  readonly onYes?: () => Promise<unknown>;
}

export async function applyPlan(app: App, seen: Plan, options: LandPlanOptions, call: Call): Promise<ApplyOutcome> {
  const store = await app.store();
  const diff = await diffOf(store, await planChanges(store, seen.id, seen.attempt));
  const part = options.accepted === true ? await acceptedPart(store, seen) : undefined;
  const { insertions, deletions } = part?.amount ?? diff;
  const artifacts = part?.amount.files ?? diff.files.length;
  const applier = await app.applier(seen.projects.map(({ project }) => project));
  // One that cannot be applied now is refused, by the apply itself, before anyone is asked.
  const asked = options.agreed !== true && (seen.phase === "apply" || statusKey(seen) === "execute/complete");
  if (asked) {
    const places = (await store.read((reader) => placesOf(reader, seen))).map(({ path }) => path).join(", ");
    const files = `${artifacts} ${artifacts === 1 ? "file" : "files"} (+${insertions} −${deletions})`;
    const amount = part === undefined ? files : `${part.amount.taken} of ${part.amount.all} changes, ${files}`;
    const where = options.onto === undefined ? "" : ` to the new branch ${options.onto}`;
    const question = places === "" ? `Apply ${amount}${where}?` : `Keep ${amount} as they are in ${places}?`;
    const shown = [
      ...(options.shown ?? []),
      ...(await previewed(call, () => applier.preview("apply", seen.id, { part: part?.taken, onto: options.onto }))),
    ];
    if (!(await confirmed(call, question, shown))) return { applied: false };
  }
  await options.onYes?.();
  const { allowEmpty, verify, onto } = options;
  const tell = await warningBeforeCommands(seen, call);
  const applied = await applier.apply(seen.id, {
    allowEmpty,
    verify,
    onto,
    part: part?.taken,
    approved: asked && call.answers === "person",
    seenVersion: options.agreed === true ? undefined : seen.version,
    tell,
    signal: call.signal,
  });
  const { plan, landings, kept, inPlace, changedSince } = applied;
  return {
    ...planFacts(plan),
    applied: true,
    artifacts,
    changes: { insertions, deletions },
    changesLeft: part === undefined ? 0 : part.amount.all - part.amount.taken,
    appliedAt: instant(plan.updatedAt),
    landings: landings.map(landingFacts),
    keptFiles: kept,
    inPlace: inPlace.map(({ alias, path }) => ({ resource: alias, path })),
    changedSince,
    nextSteps: [nextStep("plan.undo", { plan: plan.id }), ...(inPlace.length === 0 ? [nextStep("cleanup.run")] : [])],
  };
}

/** For a person only: it is a whole merge. */
async function previewed(call: Call, preview: () => Promise<PreparedLandings>): Promise<Shown[]> {
  if (call.answers !== "person") return [];
  return [{ kind: "landings", output: landingPreview(await preview()) }];
}

/** Warns once, before the first command that runs unconfined. */
async function warningBeforeCommands(plan: Plan, call: Call): Promise<(event: RunEvent) => void> {
  // Where confinement is required nothing runs without it, and nothing needs to be tried.
  const commands = plan.profile.requireConfinement ? undefined : await commandsHere(plan.profile);
  let pending = commands !== undefined && !commands.enforced;
  return (event) => {
    if (commands !== undefined && pending && event.type === "validation" && event.runsCommand) {
      pending = false;
      call.tell(commands.notice);
    }
    call.tell(event);
  };
}

const Changed = PlanFacts.extend({
  undoneAt: Instant.nullable(),
  undoneSteps: z.array(z.string()),
  /** The steps it was limited to; null for the whole plan. */
  steps: z.array(z.string()).nullable(),
  landings: z.array(LandingFacts),
  keptFiles: z.array(z.string()).readonly(),
  nextSteps: NextSteps,
});

export const Undone = Changed.extend({ undone: z.literal(true), held: z.array(HeldFacts).readonly() });
export const NotUndone = z.strictObject({ undone: z.literal(false) });
export const Redone = Changed.extend({ redone: z.literal(true) });
export const NotRedone = z.strictObject({ redone: z.literal(false) });

/** A plan to undo or redo, and the version for which the caller wants it; any, unless given. */
interface SeenPlan {
  readonly plan: Plan;
  readonly expectedVersion: number | undefined;
}

export async function undoPlan(
  app: App,
  { plan: seen, decision, expectedVersion }: SeenPlan & { readonly decision: string | undefined },
  call: Call,
): Promise<z.output<typeof Undone> | z.output<typeof NotUndone>> {
  const applier = await app.applier();
  const steps = await stepsToUndo(app, seen, decision);
  const shown = await previewed(call, () => applier.preview("undo", seen.id, { steps }));
  if (!(await confirmed(call, "Undo these changes?", shown))) return { undone: false };
  const landed = await applier.undo(seen.id, {
    steps,
    seenVersion: expectedVersion,
    tell: call.tell,
    signal: call.signal,
  });
  const held = landed.held.map(({ resource, path, plans }) => ({ resource, path, plans }));
  return { ...(await changedPlan(app, landed, steps, "plan.redo")), undone: true, held };
}

export async function redoPlan(
  app: App,
  { plan: seen, expectedVersion }: SeenPlan,
  call: Call,
): Promise<z.output<typeof Redone> | z.output<typeof NotRedone>> {
  const applier = await app.applier();
  const shown = await previewed(call, () => applier.preview("redo", seen.id, { steps: undefined }));
  if (!(await confirmed(call, "Redo these changes?", shown))) return { redone: false };
  const landed = await applier.redo(seen.id, {
    seenVersion: expectedVersion,
    tell: call.tell,
    signal: call.signal,
  });
  return { ...(await changedPlan(app, landed, undefined, "plan.undo")), redone: true };
}

async function changedPlan(
  app: App,
  { plan, landings, kept }: Awaited<ReturnType<Awaited<ReturnType<App["applier"]>>["undo"]>>,
  steps: ReadonlySet<string> | undefined,
  opposite: "plan.undo" | "plan.redo",
): Promise<z.output<typeof Changed>> {
  return {
    ...planFacts(plan),
    undoneAt: plan.undoneAt === undefined ? null : instant(plan.undoneAt),
    undoneSteps: await (await app.store()).read((reader) => findUndoneSteps(reader, plan.id)),
    steps: steps === undefined ? null : [...steps],
    landings: landings.map(landingFacts),
    keptFiles: kept,
    nextSteps: [nextStep(opposite, { plan: plan.id })],
  };
}

/** The steps of the decision and of all that cannot stand without it; undefined when no decision was named. */
async function stepsToUndo(app: App, plan: Plan, named: string | undefined): Promise<ReadonlySet<string> | undefined> {
  if (named === undefined) return undefined;
  const store = await app.store();
  const decision = await store.read((reader) => requireDecision(reader, plan, named));
  const together = await dependants(store, plan.id, plan.attempt, decision.id);
  return new Set((await stepsOfDecisions(store, plan.id, plan.attempt, together)).keys());
}
