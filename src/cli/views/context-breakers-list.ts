import type { OutputOf } from "../../app/table/operation-table.ts";
import { count, shortInstant } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned, type Cell, type Element } from "../terminal/view.ts";

export const show: Show<"context.breakers.list"> = ({ breakers, summary: { open } }) => ({
  view: [breakersTable(breakers)],
  messages: info(
    open === 0 ? "No strategy is switched off." : `${count(open, "strategy", "strategies")} switched off.`,
  ),
});

export function breakersTable(breakers: OutputOf<"context.breakers.list">["breakers"]): Element {
  return {
    kind: "table",
    title: "Breakers",
    columns: [{ keep: "Strategy" }, "Project", { keep: "State" }, "Failures", { keep: "Off until" }],
    rows: breakers.map(({ strategy, project, state, failures, openUntil }): Cell[] => [
      strategy,
      project,
      state === "closed" ? state : toned(state, "warn"),
      String(failures),
      openUntil === null ? "-" : shortInstant(Date.parse(openUntil)),
    ]),
    empty: "",
  };
}
