/**
 * The end of an execution: the repositories' hooks, then the validations. When one of them fails and a model did the
 * work, the failure goes back into its conversation as a further step, and everything is checked again; at most three
 * times, and no further once a round has changed nothing. Which round it is can be read off the recorded steps, so a
 * killed run continues in the round it was in.
 */
import type { WorkStep } from "../changes/decided-steps.ts";
import { planChanges } from "../changes/plan-changes.ts";
import { planStepOf } from "../changes/step-records.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { monotonicIds } from "../domain/names/ids.ts";
import type { ChosenWork } from "../domain/plan/decision.ts";
import type { Tell } from "../domain/run-event.ts";
import { storable } from "../domain/text/text.ts";
import type { AttachedValidation } from "../domain/validation/attachment.ts";
import { runHooks } from "../execution/checks/hooks.ts";
import { validateSandboxes } from "../execution/checks/plan-validation.ts";
import type { OpenSteps } from "../execution/steps/step-runner.ts";
import { findDecisions, insertDecision } from "../ledger/decisions.ts";
import { assertHeld, type Lease } from "../ledger/leases.ts";
import { mayMend } from "../plans/autonomy.ts";

const ROUNDS = 3;
/** Characters of what a check printed that the model is told; the end of it says most. */
const OUTPUT_SHOWN = 12_000;

export interface CheckRun {
  readonly lease: Lease<"execute">;
  readonly steps: OpenSteps;
  readonly validations: readonly AttachedValidation[];
  /** False: the hooks are skipped. */
  readonly verify: boolean;
  readonly signal: AbortSignal;
  readonly tell: Tell;
  /** Whether a model is there that can mend what a check shows. */
  readonly mends: boolean;
}

export async function checkAndMend(run: CheckRun): Promise<void> {
  const { lease, steps } = run;
  const begun = await mendingSteps(lease);
  for (const step of begun) await steps.work(step);
  for (let round = begun.length; ; round += 1) {
    const failure = await failureIn(run, round);
    if (failure === undefined) return;
    if (await isLastRound(run, round)) {
      // A plan whose validations fail is executed all the same, and cannot be applied like this.
      if (failure.error !== undefined) throw failure.error;
      return;
    }
    await steps.work(await decideToMend(lease, round + 1, failure.told));
  }
}

async function isLastRound({ lease, mends }: CheckRun, round: number): Promise<boolean> {
  if (!mends || round >= ROUNDS) return true;
  if (round > 0) {
    const changes = await planChanges(lease.store, lease.planId, lease.plan.attempt);
    if (!changes.some(({ step }) => planStepOf(step) === mendName(round))) return true;
  }
  return !(await mayMend(lease.store, lease.plan));
}

interface CheckFailure {
  /** For the model: which check failed, and what it printed. */
  readonly told: string;
  /** Of a hook, which ends the execution. */
  readonly error?: AgentsError;
}

async function failureIn(run: CheckRun, round: number): Promise<CheckFailure | undefined> {
  const { lease, steps, validations, verify, signal, tell } = run;
  try {
    await runHooks({ ...steps, lease, verify, signal, tell, round });
  } catch (error) {
    if (!(error instanceof AgentsError) || error.code !== "hook_failed") throw error;
    const { output } = error.detail as { readonly output?: unknown };
    return { told: told(error.message, typeof output === "string" ? output : ""), error };
  }
  const results = await validateSandboxes({ lease, workspaces: steps.workspaces, validations, signal, tell });
  const failed = results.filter(({ mode, passed }) => mode === "required" && !passed);
  if (failed.length === 0) return undefined;
  const each = failed.map(({ validation, message, output }) =>
    told(`The check ${validation} failed: ${message}`, output),
  );
  return { told: each.join("\n\n") };
}

function told(message: string, output: string): string {
  const end = output.slice(-OUTPUT_SHOWN).toWellFormed().trim();
  const shown = message.includes(end) ? "" : `\n${end.length < output.trim().length ? "[…]" : ""}${end}`;
  return storable(`${message}${shown}`, OUTPUT_SHOWN * 2);
}

function mendName(round: number): string {
  return `mend-${round}`;
}

/** The rounds of mending that were decided on, in order. */
async function mendingSteps({ store, plan }: Lease<"execute">): Promise<WorkStep[]> {
  const decisions = await store.read((reader) => findDecisions(reader, plan.id, plan.attempt));
  return decisions.flatMap(({ type, step, id, chosen }) =>
    type === "validation_response" && step !== undefined
      ? [{ id: step, tool: undefined, work: chosen as ChosenWork, decision: id }]
      : [],
  );
}

async function decideToMend(lease: Lease<"execute">, round: number, failure: string): Promise<WorkStep> {
  const { plan, phase } = lease;
  const id = mendName(round);
  const work: ChosenWork = {
    description: `Mend what the checks showed, without weakening a check.\n\n${failure}`,
    resources: [],
    complexity: "medium",
    risk: null,
  };
  return lease.store.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const decisions = await findDecisions(tx, plan.id, plan.attempt);
    const decision = await insertDecision(tx, monotonicIds(), {
      planId: plan.id,
      attempt: plan.attempt,
      type: "validation_response",
      phase,
      step: id,
      question: "A check failed. What now?",
      chosen: work,
      parent: decisions.find(({ parent }) => parent === undefined)?.id,
      needs: [],
    });
    return { id, tool: undefined, work, decision };
  });
}
