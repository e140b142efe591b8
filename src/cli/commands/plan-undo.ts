import type { HeldChange } from "../../apply/other-plans.ts";
import type { Plan } from "../../domain/plan.ts";
import { dependants, stepsOfDecisions } from "../../execution/decided-steps.ts";
import { requireDecision } from "../../execution/decision-outcomes.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { confirmed, declined } from "../confirm.ts";
import { count } from "../format.ts";
import { interruptible } from "../interrupt.ts";
import { info, type Message, type Outcome } from "../outcome.ts";
import { progress } from "../progress.ts";
import { landingData, landingTable, lateEdits, writePreview } from "./plan-apply.ts";
import { planData, readUndoneSteps, undoneAt } from "./plan-data.ts";

export async function planUndo(context: CommandContext, input: Input): Promise<Outcome> {
  return change(context, input, "undo");
}

export async function planRedo(context: CommandContext, input: Input): Promise<Outcome> {
  return change(context, input, "redo");
}

const WORDS = {
  undo: { question: "Take these changes out again?", deed: "undone", next: "redo" },
  redo: { question: "Bring these changes back in?", deed: "redone", next: "undo" },
} as const;

async function change(context: CommandContext, input: Input, kind: "undo" | "redo"): Promise<Outcome> {
  const { question, deed, next: opposite } = WORDS[kind];
  const seen = await (await context.plans()).getPlan(input.argument(0));
  const applier = await context.applier();
  const steps = await wantedSteps(context, seen, input.text("decision"));
  if (!input.flag("yes")) writePreview(await applier.preview(kind, seen.id, { steps }));
  if (!(await confirmed(question, input.flag("yes")))) return declined(deed);
  const onProgress = progress(await context.format());
  const { signal, stop } = interruptible();
  const landed = await applier[kind](seen.id, { steps, onProgress, signal }).finally(stop);
  const { plan, landings, held, kept } = landed;
  const files = landings.reduce((sum, landing) => sum + landing.files.length, 0);
  const what =
    steps === undefined
      ? `Plan ${plan.id} is`
      : `Of plan ${plan.id}, ${[...steps].join(", ")} ${steps.size === 1 ? "is" : "are"}`;
  const next = [`agents plan ${opposite} ${plan.id}`];
  return {
    data: {
      ...planData(plan),
      undone_at: undoneAt(plan),
      undone_steps: await readUndoneSteps(context, plan),
      steps: steps === undefined ? null : [...steps],
      landings: landings.map(landingData),
      ...(kind === "undo" ? { held } : {}),
      kept_files: kept,
      next_steps: next,
    },
    view: [landingTable(landings)],
    messages: [...info(`${what} ${deed}: ${count(files, "file")} changed.`), ...heldBack(held), ...lateEdits(kept)],
    next,
  };
}

/** What others made too stays, and a person should know why the files are as they were. */
function heldBack(held: readonly HeldChange[]): Message[] {
  const byPlans = Map.groupBy(held, ({ plans }) => plans.join(", plan "));
  return [...byPlans].flatMap(([plans, changes]) => {
    const names = changes.map(({ resource, path }) => `${resource}/${path}`);
    const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
    return info(`${names.slice(0, 5).join(", ")}${more}: plan ${plans} made the same change, which stays.`);
  });
}

/** The steps of the decision and of all that cannot stand without it; undefined when no decision was named. */
async function wantedSteps(
  context: CommandContext,
  plan: Plan,
  named: string | undefined,
): Promise<ReadonlySet<string> | undefined> {
  if (named === undefined) return undefined;
  const store = await context.store();
  const decision = await store.read((reader) => requireDecision(reader, plan, named));
  const together = await dependants(store, plan.id, plan.attempt, decision.id);
  return new Set((await stepsOfDecisions(store, plan.id, plan.attempt, together)).keys());
}
