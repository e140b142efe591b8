import type { OutputOf } from "../../app/table/operation-table.ts";
import { info, type Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { applyPicture } from "./plan-apply.ts";
import { executionPicture } from "./plan-execute.ts";

type Output = OutputOf<"run">;

export const show: Show<"run"> = (output, { input, machine, options }) => {
  // People were told before anything ran.
  const setup: Message[] = machine ? output.made.flatMap((one) => info(`Made ${one}.`)) : [];
  if (output.outcome === "strategy") {
    const picture = output.executed === false ? declined("executed") : executionPicture(output, input);
    return { ...picture, messages: [...setup, ...picture.messages] };
  }
  const executed = executionPicture(output, input);
  if (!("applied" in output) || output.applied === undefined) {
    const failed = failure(output, options["yes"] === true);
    const messages = [...setup, ...executed.messages, ...failed];
    return { ...executed, messages, ...(failed.length === 0 ? {} : { status: "error" as const }) };
  }
  const applied = isApplied(output) ? applyPicture({ ...output, changes: output.changes }) : declined("applied");
  return { ...applied, messages: [...setup, ...executed.messages, ...applied.messages] };
};

/** A script that ran this must not take a result for a success that a check refused. */
function failure(output: Extract<Output, { outcome: "executed" }>, agreed: boolean): Message[] {
  const { obstacle, checked } = output;
  if (obstacle !== null) return [{ level: "error", text: "Not applied: a required check failed." }];
  if (!agreed || checked.outcome !== "failed") return [];
  return [{ level: "error", text: "Not applied: the project's own check failed. Use --apply-anyway to apply it." }];
}

function isApplied(output: Output): output is Extract<Output, { applied: true }> {
  return "applied" in output && output.applied === true;
}
