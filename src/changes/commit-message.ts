/** The message of the commit that apply makes: ours, or ours as the repository's `commit-msg` hook changed it. */
import type { Plan } from "../domain/plan/plan.ts";
import { findStepsOfKind } from "../ledger/steps.ts";
import type { Store } from "../store/port.ts";
import { planAnswer } from "./plan-answer.ts";
import { comparedOrder } from "./step-records.ts";

/** The message of the commit a plan becomes. */
const SUBJECT_LIMIT = 72;

/** The proposed message: the plan's purpose in one line, what its model says it did, and which plan it was. */
export function commitMessage(plan: Pick<Plan, "id" | "description">, answer?: string): string {
  const [line = ""] = plan.description.trim().split(/[\r\n]/, 1);
  const characters = Array.from(new Intl.Segmenter("en").segment(line.trim()), ({ segment }) => segment);
  const fits = characters.length <= SUBJECT_LIMIT;
  const kept = characters.slice(0, fits ? SUBJECT_LIMIT : SUBJECT_LIMIT - 1).join("");
  const body = answer === undefined ? "" : `${bodyOf(answer)}\n\n`;
  return `${kept.trimEnd()}${fits ? "" : "…"}\n\n${body}CleverAgents-Plan: ${plan.id}\n`;
}

/** Characters of an answer that go into a commit. */
const BODY_LIMIT = 4_000;

/** Lines that git would take for comments or trailers must not end up as such. */
function bodyOf(answer: string): string {
  const text = answer.trim().slice(0, BODY_LIMIT).toWellFormed();
  return text
    .split("\n")
    .map((line) => (/^(?:#|[A-Za-z][\w-]*: )/.test(line) ? ` ${line}` : line).trimEnd())
    .join("\n");
}

/** The message to use for the resource: ours as its `commit-msg` hook changed it, or ours where no such hook ran. */
export async function recordedCommitMessage(
  store: Store,
  plan: Pick<Plan, "id" | "description" | "attempt">,
  alias: string,
): Promise<string> {
  const hooks = await store.read((reader) => findStepsOfKind(reader, plan, "hook"));
  const own = hooks
    .filter(({ id }) => id.startsWith(`${alias}:commit-msg`))
    .sort((a, b) => comparedOrder(a.order, b.order));
  return own.at(-1)?.message ?? commitMessage(plan, await planAnswer(store, plan));
}
