import type { Plan, PlanFailure } from "../../domain/plan.ts";
import { isRecoverable, MAX_REVERSIONS } from "../../domain/transitions.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { count, instant, shortInstant } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { toned } from "../view.ts";

export async function planErrors(context: CommandContext, input: Input): Promise<Outcome> {
  const service = await context.plans();
  const plan = await service.getPlan(input.argument(0));
  const failures = await service.listFailures(plan.id);
  const hints = recoveryHints(plan);
  return {
    data: {
      plan_id: plan.id,
      phase: plan.phase,
      state: plan.state,
      recoverable: isRecoverable(plan),
      errors: failures.map(failureData),
      recovery_hints: hints,
    },
    view: [
      {
        kind: "table",
        title: `Errors of plan ${plan.id}`,
        columns: [{ keep: "When (UTC)" }, "Phase", "Attempt", "Kind", "What"],
        rows: failures.map((failure) => [
          shortInstant(failure.at),
          failure.phase,
          String(failure.attempt),
          toned(`${failure.kind}, ${failure.category}`, failure.kind === "errored" ? "bad" : "warn"),
          failure.message,
        ]),
        empty: "",
      },
    ],
    messages: info(failures.length === 0 ? "Nothing went wrong so far." : `${count(failures.length, "error")} listed.`),
    next: hints.map((hint) => `${hint.cli_command}   # ${hint.message}`),
  };
}

function failureData(failure: PlanFailure): Record<string, unknown> {
  const { position, phase, attempt, kind, message, category, at } = failure;
  return { position, phase, attempt, kind, message, category, at: instant(at) };
}

interface Hint {
  readonly action: "revert" | "cancel";
  readonly message: string;
  readonly cli_command: string;
}

function recoveryHints(plan: Plan): Hint[] {
  if (!isRecoverable(plan)) return [];
  const left = MAX_REVERSIONS - plan.reversionCount;
  const cancel = { action: "cancel", message: "give it up", cli_command: `agents plan cancel ${plan.id}` } as const;
  if (left <= 0) return [cancel];
  const message = `plan it anew (${left} of ${MAX_REVERSIONS} left)`;
  return [{ action: "revert", message, cli_command: `agents plan revert ${plan.id}` }, cancel];
}
