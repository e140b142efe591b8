import type { Plan } from "../../domain/plan.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { confirmed, declined } from "../confirm.ts";
import { count, instant } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { progress } from "../progress.ts";
import { landingData, landingTable, lateEdits, writePreview } from "./plan-apply.ts";
import { planData } from "./plan-data.ts";

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
  if (!input.flag("yes")) writePreview(await applier.preview(kind, seen.id));
  if (!(await confirmed(question, input.flag("yes")))) return declined(deed);
  const { plan, landings, kept } = await applier[kind](seen.id, { onProgress: progress(await context.format()) });
  const files = landings.reduce((sum, landing) => sum + landing.files.length, 0);
  const next = [`agents plan ${opposite} ${plan.id}`];
  return {
    data: {
      ...planData(plan),
      undone_at: undoneAt(plan),
      landings: landings.map(landingData),
      kept_files: kept,
      next_steps: next,
    },
    view: [landingTable(landings)],
    messages: [...info(`Plan ${plan.id} is ${deed}: ${count(files, "file")} changed.`), ...lateEdits(kept)],
    next,
  };
}

export function undoneAt(plan: Plan): string | null {
  return plan.undoneAt === undefined ? null : instant(plan.undoneAt);
}
