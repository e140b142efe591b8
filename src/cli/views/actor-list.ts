import { nextStep } from "../../domain/errors/next-step.ts";
import { orDash } from "../terminal/format.ts";
import type { Show } from "../terminal/show.ts";
import { listed } from "./parts.ts";

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
  messages: listed(summary.total, "actor"),
  // A model is an actor as well: most users want one of those.
  next:
    summary.total === 0
      ? [nextStep("models.list", { all: true }), nextStep("actor.add", { definition: { file: "<file>" } })]
      : [],
});
