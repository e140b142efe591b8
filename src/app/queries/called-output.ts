/** The output of the tool calls of a decision, for people: the text that a model reads, with nothing left out. */
import type { ToolInvocation } from "../../domain/plan/decision.ts";
import { isJsonObject } from "../../domain/values/json.ts";
import { keptOutput } from "../../execution/steps/recorded-calls.ts";
import { told } from "../../execution/tools/tool-pipeline.ts";
import { ONLY_BUILT_IN } from "../../execution/tools/tool-set.ts";
import { ChangesetStore } from "../../ledger/changesets.ts";
import type { ToolCallStep } from "../../ledger/records.ts";
import { findStepsOfKind } from "../../ledger/steps.ts";
import type { Store } from "../../store/port.ts";
import type { Explained } from "./explained-decision.ts";

export async function calledOutput(store: Store, { plan, outcome }: Explained): Promise<string> {
  const { attempt } = outcome.decision;
  const records = await store.read((reader) => findStepsOfKind(reader, { id: plan.id, attempt }, "tool_call"));
  const parts: string[] = [];
  for (const call of outcome.calls) {
    const record = records.find(({ changeset }) => changeset === call.changesetId);
    parts.push(`# ${call.tool}\n${await returnedText(store, call, record)}`);
  }
  return parts.length === 0 ? "No tool was called for it.\n" : `${parts.map((part) => part.trimEnd()).join("\n\n")}\n`;
}

async function returnedText(store: Store, call: ToolInvocation, record: ToolCallStep | undefined): Promise<string> {
  const { end, tool, params } = call;
  if (record?.output === undefined) return end?.outcome === "failed" ? end.error : "(nothing is recorded of it)";
  const hash = keptOutput(record);
  const whole = hash === undefined ? undefined : await new ChangesetStore(store).content(hash);
  const { text = "" } = told(
    { tool, params: isJsonObject(params) ? params : {}, forModel: true },
    record.output,
    ONLY_BUILT_IN,
  );
  if (whole === undefined) return text;
  // The text of a built-in tool begins with a line about the call.
  if (tool.includes("/")) return Buffer.from(whole).toString("utf8");
  const [firstLine = ""] = text.split("\n", 1);
  return `${firstLine}\n${Buffer.from(whole).toString("utf8")}`;
}
