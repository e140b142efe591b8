import type { OutputOf } from "../../app/table/operation-table.ts";
import { age, count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned, type Cell } from "../terminal/view.ts";
import { costText, standingCell } from "./standing-cell.ts";

type Listed = OutputOf<"plan.list">["plans"][number];

/** Narrower than this, the request is worth more than the id: the number names the plan as well. */
const ID_FROM = 100;

export const show: Show<"plan.list"> = ({ plans, summary: { total } }, { screen }) => {
  // Where all are in one place, the place is not worth a column.
  const places = new Set(plans.map(placeOf)).size > 1;
  const ids = screen.columns === undefined || screen.columns >= ID_FROM;
  const now = Date.now();
  return {
    view: [
      {
        kind: "table",
        title: "Plans",
        columns: [
          { keep: "#" },
          "Request",
          { keep: "State" },
          ...(places ? ["Where"] : []),
          "Files",
          "Cost",
          "Age",
          ...(ids ? [{ keep: "Plan" }] : []),
        ],
        rows: plans.map((plan) => [
          String(plan.number),
          plan.request,
          standingCell(plan.standing),
          ...(places ? [placeCell(plan)] : []),
          plan.changedFiles === 0 ? "-" : String(plan.changedFiles),
          costText(plan.cost),
          age(now - Date.parse(plan.updatedAt)),
          ...(ids ? [plan.shortId] : []),
        ]),
        empty: total === 0 ? "No plans." : "No plan fits.",
      },
    ],
    messages:
      total === 0
        ? []
        : info(
            `${count(plans.length, "plan")} of ${total} shown${plans.length < total ? " (more with --limit)" : ""}.`,
          ),
  };
};

function placeOf({ here, projects }: Listed): string {
  return here ? "here" : projects.join(", ") || "-";
}

function placeCell(plan: Listed): Cell {
  return plan.here ? toned("here", "strong") : placeOf(plan);
}
