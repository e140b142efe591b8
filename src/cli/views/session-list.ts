import { age, count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned } from "../terminal/view.ts";
import { costText, standingCell } from "./standing-cell.ts";

export const show: Show<"session.list"> = ({ sessions, summary: { total } }) => {
  // Where all are in one place, the place is not worth a column.
  const places = new Set(sessions.map(({ project }) => project)).size > 1;
  const now = Date.now();
  return {
    view: [
      {
        kind: "table",
        title: "Sessions",
        columns: [{ keep: "#" }, "Request", "State", ...(places ? ["Project"] : []), "Plans", "Cost", "Age"],
        rows: sessions.map((one) => [
          String(one.number),
          one.title,
          standingCell(one.state),
          ...(places ? [one.here ? toned("here", "strong") : one.project] : []),
          String(one.plans),
          costText(one.cost),
          age(now - Date.parse(one.toldAt)),
        ]),
        empty: "No sessions.",
      },
    ],
    messages:
      total === 0
        ? []
        : info(
            `${count(sessions.length, "session")} of ${total} shown${sessions.length < total ? " (more with --limit)" : ""}.`,
          ),
  };
};
