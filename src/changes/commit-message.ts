/** The message of the commit that apply makes: ours, or ours as the repository's `commit-msg` hook changed it. */
import type { Plan } from "../domain/plan/plan.ts";
import { findStepsOfKind } from "../ledger/steps.ts";
import type { Store } from "../store/port.ts";
import { comparedOrder } from "./step-records.ts";

/** The message of the commit a plan becomes. */
const SUBJECT_LIMIT = 72;

/** The proposed message: the plan's purpose in one line, and which plan it was. */
export function commitMessage(plan: Pick<Plan, "id" | "description">): string {
  const [line = ""] = plan.description.trim().split(/[\r\n]/, 1);
  const characters = Array.from(new Intl.Segmenter("en").segment(line.trim()), ({ segment }) => segment);
  const fits = characters.length <= SUBJECT_LIMIT;
  const kept = characters.slice(0, fits ? SUBJECT_LIMIT : SUBJECT_LIMIT - 1).join("");
  return `${kept.trimEnd()}${fits ? "" : "…"}\n\nCleverAgents-Plan: ${plan.id}\n`;
}

/** The message to use for the resource: ours as its `commit-msg` hook changed it, or ours where no such hook ran. */
export async function recordedCommitMessage(
  store: Store,
  plan: Pick<Plan, "id" | "description" | "attempt">,
  alias: string,
): Promise<string> {
  const hooks = await store.read((reader) => findStepsOfKind(reader, plan, "hook"));
  const own = hooks.filter(({ id }) => id.startsWith(`${alias}:commit-msg`)).sort((a, b) => comparedOrder(a.order, b.order));
  return own.at(-1)?.message ?? commitMessage(plan);
}
