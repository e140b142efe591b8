import { openQuestion, type Question } from "../../ledger/questions.ts";
import { promptPlan } from "../../plans/pausing.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { info, type Outcome } from "../outcome.ts";

/** Answers the question that is open now: whoever answers it first is heard, and everybody else is told so. */
export async function planPrompt(context: CommandContext, input: Input): Promise<Outcome> {
  const { id: planId } = await (await context.plans()).getPlan(input.argument(0));
  const store = await context.store();
  const open = await store.read((reader) => openQuestion(reader, planId));
  const text = input.arguments(1).join(" ");
  const user = await context.user();
  const { plan, decision, answered, revises } = await promptPlan(store, { planId, text, answering: open?.id, user });
  const worked = answered === undefined && plan.state === "processing";
  const next = worked ? [`agents plan status ${planId}`] : [`agents plan execute ${planId}`];
  return {
    data: {
      plan_id: planId,
      decision_id: decision,
      guidance: text.trim(),
      answered: answered?.question ?? null,
      revises_strategy: revises,
      phase: plan.phase,
      state: plan.state,
      next_steps: next,
    },
    view: [],
    messages: info(said(planId, answered, revises)),
    next,
  };
}

function said(planId: string, answered: Question | undefined, revises: boolean): string {
  if (answered !== undefined) return `Answered: "${answered.question}" Plan ${planId} can go on.`;
  return revises
    ? `Recorded: plan ${planId} gets another strategy, which is shown before anything is done.`
    : `Recorded: plan ${planId} is told from its next prompt on.`;
}
