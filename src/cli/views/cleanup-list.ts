import { bytes, count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned } from "../terminal/view.ts";

export const show: Show<"cleanup.list"> = ({ sandboxes, inPlace, summary }) => ({
  view: [
    {
      kind: "table",
      title: "Sandboxes",
      columns: [{ keep: "Plan" }, "Attempt", "Resource", "Size", "Removable", "Why"],
      rows: sandboxes.map((sandbox) => [
        sandbox.planId,
        String(sandbox.attempt),
        sandbox.leftOver ? `${sandbox.resource} (half)` : sandbox.resource,
        sandbox.bytes === null ? "-" : bytes(sandbox.bytes),
        sandbox.removable ? toned("yes", "warn") : "no",
        sandbox.why,
      ]),
      empty: "No sandboxes.",
    },
    {
      kind: "table",
      title: "In place, without a sandbox",
      columns: [{ keep: "Plan" }, "Attempt", "Resource", "Path"],
      rows: inPlace.map(({ planId, attempt, resource, path }) => [planId, String(attempt), resource, path]),
      empty: "",
    },
  ],
  messages: info(
    `${count(summary.total, "sandbox", "sandboxes")}, ${summary.removable} removable${inPlace.length === 0 ? "" : `; without one, in place: ${count(inPlace.length, "resource")}`}.`,
  ),
});
