import { count, orDash, stateCell } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned } from "../terminal/view.ts";

export const show: Show<"plan.list"> = ({ plans, summary: { total } }) => ({
  view: [
    {
      kind: "table",
      title: "Plans",
      columns: [{ keep: "Plan" }, "Phase", "State", "Action", "Project", "Elapsed"],
      rows: plans.map((plan) => [
        plan.shortId,
        plan.phase,
        plan.awaitingInput === null ? stateCell(plan.state) : toned("asks", "warn"),
        plan.action,
        orDash(plan.projects.join(", ") || undefined),
        plan.elapsed,
      ]),
      empty: total === 0 ? "No plans." : "No plan fits.",
    },
  ],
  messages: info(
    `${count(plans.length, "plan")} of ${total} shown${plans.length < total ? " (more with --limit)" : ""}.`,
  ),
});
