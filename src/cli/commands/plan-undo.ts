import type { LandedPlan } from "../../plans/plan-applier.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { confirmed, declined } from "../confirm.ts";
import { count } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { progress } from "../progress.ts";
import { landingData, landingTable, lateEdits } from "./plan-apply.ts";
import { planData, undoneAt } from "./plan-data.ts";

export async function planUndo(context: CommandContext, input: Input): Promise<Outcome> {
  const plan = await (await context.plans()).getPlan(input.argument(0));
  if (!(await confirmed(`Take the changes of plan ${plan.id} out again?`, input.flag("yes"))))
    return declined("undone");
  const onProgress = progress(await context.format());
  return outcome(
    "undone",
    `agents plan redo ${plan.id}`,
    await (await context.applier()).undo(plan.id, { onProgress }),
  );
}

export async function planRedo(context: CommandContext, input: Input): Promise<Outcome> {
  const plan = await (await context.plans()).getPlan(input.argument(0));
  if (!(await confirmed(`Bring the changes of plan ${plan.id} back in?`, input.flag("yes")))) return declined("redone");
  const onProgress = progress(await context.format());
  return outcome(
    "redone",
    `agents plan undo ${plan.id}`,
    await (await context.applier()).redo(plan.id, { onProgress }),
  );
}

function outcome(deed: "undone" | "redone", next: string, { plan, landings, kept }: LandedPlan): Outcome {
  const files = landings.reduce((sum, landing) => sum + landing.files.length, 0);
  return {
    data: {
      ...planData(plan),
      undone_at: undoneAt(plan),
      landings: landings.map(landingData),
      kept_files: kept,
      next_steps: [next],
    },
    view: [landingTable(landings)],
    messages: [...info(`Plan ${plan.id} is ${deed}: ${count(files, "file")} changed.`), ...lateEdits(kept)],
    next: [next],
  };
}
