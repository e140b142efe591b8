import type { OutputOf } from "../../app/table/operation-table.ts";
import { info, type Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { applyPicture } from "./plan-apply.ts";
import { executionPicture } from "./plan-execute.ts";

type Output = OutputOf<"run">;

export const show: Show<"run"> = (output, { input, machine }) => {
  // People were told before anything ran.
  const setup: Message[] = machine ? output.made.flatMap((one) => info(`Made ${one}.`)) : [];
  if (output.outcome === "strategy") {
    const picture = output.executed === false ? declined("executed") : executionPicture(output, input);
    return { ...picture, messages: [...setup, ...picture.messages] };
  }
  const executed = executionPicture(output, input);
  if (!("applied" in output) || output.applied === undefined)
    return { ...executed, messages: [...setup, ...executed.messages] };
  const applied = isApplied(output) ? applyPicture({ ...output, changes: output.changes }) : declined("applied");
  return { ...applied, messages: [...setup, ...executed.messages, ...applied.messages] };
};

function isApplied(output: Output): output is Extract<Output, { applied: true }> {
  return "applied" in output && output.applied === true;
}
