import type { OutputOf } from "../../app/table/operation-table.ts";
import { info, type Message } from "../terminal/outcome.ts";
import type { Picture, Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { candidatesPicture } from "./candidate-tables.ts";
import { applyPicture } from "./plan-apply.ts";
import { queuedPicture } from "./queued.ts";
import { executedPicture, executionPicture, paidSentence } from "./plan-execute.ts";

type Output = OutputOf<"run">;

export const show: Show<"run"> = (output, { input, machine, options, verbose }) => {
  // People were told before anything ran.
  const setup: Message[] = machine ? output.made.flatMap((one) => info(`Made ${one}.`)) : [];
  if (output.outcome === "candidates") {
    const picture = candidatesPicture(output);
    return { ...picture, messages: [...setup, ...picture.messages] };
  }
  if (output.outcome === "queued") {
    const picture = queuedPicture(output);
    return { ...picture, messages: [...setup, ...picture.messages] };
  }
  const picture = carriedPicture(output, {
    includeDirty: input.includeDirty === true,
    agreed: options["yes"] === true,
    verbose,
  });
  return { ...picture, messages: [...setup, ...picture.messages] };
};

type Carried = Exclude<Output, { outcome: "candidates" | "queued" }> | OutputOf<"tell">;

/** A plan that was carried on from where it was, as far as it came. */
export function carriedPicture(
  output: Carried | Extract<OutputOf<"session.resume">, { outcome: string }>,
  { includeDirty, agreed, verbose }: Readonly<Record<"includeDirty" | "agreed" | "verbose", boolean>>,
): Picture {
  if (output.outcome === "told") {
    return {
      view: [],
      messages: info(`Noted: plan ${output.planId} is being worked on, and hears it at its next step.`),
    };
  }
  if (output.outcome === "strategy")
    return output.executed === false ? declined("executed") : executionPicture(output, { includeDirty, verbose });
  const executed = executionPicture(output, { includeDirty, verbose });
  if (!("applied" in output) || output.applied === undefined) {
    const failed = failure(output, agreed);
    const messages = [...executed.messages, ...failed];
    return { ...executed, messages, ...(failed.length === 0 ? {} : { status: "error" as const }) };
  }
  if (!output.applied) {
    const kept = declined("applied");
    return { ...kept, messages: [...executed.messages, ...kept.messages] };
  }
  // A finished run ends in few lines: the answer, whether it is checked, what was changed where, and how to undo it.
  const result = executedPicture(output, includeDirty);
  const applied = applyPicture({ ...output, changes: output.changes }, paidSentence(output.cost));
  return {
    ...applied,
    view: [...result.view, ...applied.view],
    messages: [...result.messages, ...applied.messages],
    next: output.nextSteps.slice(0, 1),
  };
}

/** A script that ran this must not take a result for a success that a check refused. */
function failure(
  output: Pick<Extract<Output, { outcome: "executed" }>, "obstacle" | "checked">,
  agreed: boolean,
): Message[] {
  const { obstacle, checked } = output;
  if (obstacle !== null) return [{ level: "error", text: "Not applied: a required check failed." }];
  if (!agreed || checked.outcome !== "failed") return [];
  return [{ level: "error", text: "Not applied: the project's own check failed. Use --apply-anyway to apply it." }];
}
