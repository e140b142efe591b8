import { isDeepStrictEqual } from "node:util";
import { count } from "../terminal/format.ts";
import type { Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned } from "../terminal/view.ts";

const TONES = { ok: "good", warning: "warn", error: "bad" } as const;

export const show: Show<"diagnostics"> = ({ checks, summary: { errors, warnings } }) => ({
  view: [
    {
      kind: "table",
      title: "Diagnostics",
      columns: ["Check", "Status", "Finding"],
      rows: checks.map(({ name, status, message }) => [name, toned(status, TONES[status]), message]),
      empty: "",
    },
  ],
  messages: [verdict(errors, warnings)],
  next: checks
    .flatMap(({ fixes }) => fixes)
    .filter((fix, at, all) => all.findIndex((one) => isDeepStrictEqual(one, fix)) === at),
  status: errors > 0 ? "error" : warnings > 0 ? "warn" : "ok",
});

function verdict(errors: number, warnings: number): Message {
  if (errors > 0) return { level: "error", text: `${count(errors, "check")} failed.` };
  if (warnings > 0) return { level: "warning", text: `It works, with ${count(warnings, "warning")}.` };
  return { level: "info", text: "Everything works." };
}
