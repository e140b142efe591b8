import { nextStep } from "../../domain/next-step.ts";
import { count, orDash } from "../format.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

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
