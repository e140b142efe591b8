import { nextStep } from "../../domain/errors/next-step.ts";
import { count, orDash } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
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
  messages: info(`${count(summary.total, "action")} listed.`),
  next: summary.total === 0 ? [nextStep("action.create", { definition: { file: "<file>" } })] : [],
});
