import { count, shortInstant } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"audit.list"> = ({ entries }) => ({
  view: [
    {
      kind: "table",
      title: "Audit log",
      columns: [{ keep: "When (UTC)" }, "What", { keep: "Plan" }, "Result", "User"],
      rows: entries.map(({ at, type, planId, status, details, user }) => [
        shortInstant(Date.parse(at)),
        type,
        planId ?? "-",
        status ?? summary(details),
        user,
      ]),
      empty: "No entries.",
    },
  ],
  messages: info(`${count(entries.length, "entry", "entries")} listed.`),
});

function summary(details: unknown): string {
  const values: unknown[] = typeof details === "object" && details !== null ? Object.values(details) : [];
  return values.filter((value) => typeof value === "string").join(" ");
}
