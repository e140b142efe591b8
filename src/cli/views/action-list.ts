import { nextStep } from "../../domain/errors/next-step.ts";
import { orDash } from "../terminal/format.ts";
import type { Show } from "../terminal/show.ts";
import { listed } from "./parts.ts";
import { actionStateCell } from "./action-view.ts";

export const show: Show<"action.list"> = ({ actions, summary }) => ({
  view: [
    {
      kind: "table",
      title: "Actions",
      columns: [{ keep: "Name" }, "State", "Strategy", "Execution", "Plans"],
      rows: actions.map(({ name, state, strategyActor, executionActor, plans }) => [
        name,
        actionStateCell(state),
        orDash(strategyActor),
        orDash(executionActor),
        String(plans),
      ]),
      empty: "No actions yet.",
    },
  ],
  messages: listed(summary.total, "action"),
  next: summary.total === 0 ? [nextStep("action.create", { definition: { file: "<file>" } })] : [],
});
