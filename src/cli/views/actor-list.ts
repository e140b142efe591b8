import { nextStep } from "../../domain/errors/next-step.ts";
import { count, orDash } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"actor.list"> = ({ actors, summary }) => ({
  view: [
    {
      kind: "table",
      title: "Actors",
      columns: [{ keep: "Name" }, "Type", "Default for", "Description"],
      rows: actors.map(({ name, type, defaultFor, description }) => [
        name,
        type,
        orDash(defaultFor.join(", ") || undefined),
        description,
      ]),
      empty: "No actors yet.",
    },
  ],
  messages: info(`${count(summary.total, "actor")} listed.`),
  next: summary.total === 0 ? [nextStep("actor.add", { definition: { file: "<file>" } })] : [],
});
