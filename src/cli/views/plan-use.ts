import type { OutputOf } from "../../app/table/operation-table.ts";
import { stateText } from "../../domain/plan/standing.ts";
import { count } from "../terminal/format.ts";
import { info, type Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { idleMessages } from "./queued.ts";
import { firstFew, inPlaceRows, usd } from "./parts.ts";

type Output = OutputOf<"plan.use">;

export const show: Show<"plan.use"> = (output, { options }) => {
  const { planId, automation, profileDescription, budgetUsd, queued } = output;
  const held = heldMessages(output);
  return {
    view: [
      {
        kind: "fields",
        title: `Plan ${planId}`,
        rows: [
          ["does", output.description],
          ["done when", output.definitionOfDone.trimEnd()],
          ["projects", output.projects.map(({ project }) => project).join(", ")],
          ["profile", `${automation.profile} (${automation.source}): ${profileDescription}`],
          ...inPlaceRows(output.inPlace),
          ["context", contextText(output.context)],
          ...(budgetUsd === null ? [] : [["budget", `${usd(budgetUsd)} for its models`] as const]),
          ["state", stateText(output)],
        ],
      },
    ],
    messages: [
      ...info(`Plan ${planId} created${queued === null ? "" : " and queued"}.`),
      ...(queued === null ? [] : idleMessages(queued.workers)),
      ...held,
    ],
    ...(options["quiet"] === true ? { text: `${planId}\n` } : {}),
    ...(held.length === 0 ? {} : { status: "warn" as const }),
  };
};

function heldMessages({ heldBack }: Output): Message[] {
  if (heldBack === null) return [];
  const { profile, fields } = heldBack;
  const text = `The action's automation profile ${profile} goes further than yours (${firstFew(fields, 4)}), so yours holds there. --automation-profile ${profile} lets the plan go that far.`;
  return [{ level: "warning", text }];
}

function contextText({ resources, indexedFiles, view, budget }: Output["context"]): string {
  const files = indexedFiles === null ? "not indexed yet" : `${count(indexedFiles, "file")} indexed`;
  return `${resources.join(", ") || "no resource"}; ${files}; view ${view}, ${budget} tokens`;
}
