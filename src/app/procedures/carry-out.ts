/** Carries a plan out together with the person or program that called, and says whether it may apply its changes. */
import { decidedWaves } from "../../changes/decided-steps.ts";
import { AwaitingInputError } from "../../domain/errors/errors.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { mustBeApproved } from "../../domain/profile/automation-profile.ts";
import { openQuestion } from "../../ledger/questions.ts";
import { shouldApply } from "../../plans/autonomy.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { offerBrought } from "./accept-repository.ts";
import { announceConfinement, executePlan, type ExecuteOutcome, type ExecutePlanOptions } from "./execute-plan.ts";
import { guidePlan } from "./prompt-plan.ts";

/** Until it is executed, or a person is needed and there is none: shows and asks what the profile wants asked. */
export async function carryOut(
  app: App,
  plan: Plan,
  { includeDirty, verify, ...options }: ExecutePlanOptions,
  call: Call,
): Promise<ExecuteOutcome & { readonly executed?: false }> {
  const commands = await announceConfinement(app, plan, call);
  await offerBrought(app, plan, call, true);
  let { seenVersion } = options;
  for (;;) {
    const outcome = await executePlan(app, { id: plan.id, commands, includeDirty, verify, seenVersion }, call).catch(
      async (error: unknown) => {
        if (!(error instanceof AwaitingInputError) || !(await answerQuestion(app, plan, call))) throw error;
        return undefined;
      },
    );
    seenVersion = undefined;
    if (outcome === undefined) continue;
    // The strategy is there, and the profile wants it looked at: executing again is the yes.
    if (outcome.outcome === "executed" || call.answers === "none") return outcome;
    const shown = [{ kind: "strategy" as const, output: outcome }];
    const reply = await call.ask({ kind: "strategy", text: "Run this plan?", shown });
    if (reply.kind === "yes") {
      // The yes is for the strategy that was shown, and for no other.
      seenVersion = outcome.version;
      continue;
    }
    if (reply.kind !== "text") return { ...outcome, executed: false };
    await guidePlan(app, plan.id, reply.text);
  }
}

/** False when there is no answer. */
async function answerQuestion(app: App, { id }: Plan, call: Call): Promise<boolean> {
  const open = await (await app.store()).read((reader) => openQuestion(reader, id));
  // Another process answered first.
  if (open === undefined) return true;
  const reply = await call.ask({ kind: "plan", text: open.question, alternatives: open.alternatives });
  if (reply.kind !== "text" || reply.text === "") return false;
  await guidePlan(app, id, reply.text, { seen: open.id });
  return true;
}

/** The profile lets the plan apply its changes without asking. */
export async function mayApply(app: App, { id, attempt }: Plan): Promise<boolean> {
  const plan = await (await app.plans()).getPlan(id);
  if (mustBeApproved(plan.profile)) return false;
  const store = await app.store();
  const steps = (await decidedWaves(store, id, attempt)).flat();
  const risks = steps.map((step) =>
    step.tool === undefined ? { risk: step.work.risk ?? undefined } : { tool: step.tool },
  );
  return (await shouldApply(store, plan, risks)).go;
}
