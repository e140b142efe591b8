import { shortInstant } from "../terminal/format.ts";
import type { Show } from "../terminal/show.ts";
import { listed } from "./parts.ts";

/** Two plans of one millisecond aside, so much of an id names one plan. */
const ID_SHOWN = 12;

export const show: Show<"audit.list"> = ({ entries }, { input, screen }) => {
  // Of one plan the plan is known; on a terminal the beginning of an id names it as well.
  const plans = input.plan === undefined;
  const shown = screen.columns === undefined ? undefined : ID_SHOWN;
  return {
    view: [
      {
        kind: "table",
        title: "Audit log",
        columns: [{ keep: "When (UTC)" }, "What", ...(plans ? [{ keep: "Plan" }] : []), "Result", "User"],
        rows: entries.map(({ at, type, planId, status, details, user }) => [
          shortInstant(Date.parse(at)),
          type,
          ...(plans ? [planId?.slice(0, shown) ?? "-"] : []),
          status ?? summary(details),
          user,
        ]),
        empty: "No entries.",
      },
    ],
    messages: listed(entries.length, "entry", "entries"),
  };
};

function summary(details: unknown): string {
  const values: unknown[] = typeof details === "object" && details !== null ? Object.values(details) : [];
  return values.filter((value) => typeof value === "string").join(" ");
}
