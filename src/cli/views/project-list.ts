import { nextStep } from "../../domain/errors/next-step.ts";
import { orDash } from "../terminal/format.ts";
import type { Show } from "../terminal/show.ts";
import { listed } from "./parts.ts";

export const show: Show<"project.list"> = ({ projects, summary }) => ({
  view: [
    {
      kind: "table",
      title: "Projects",
      columns: [{ keep: "Name" }, "Plans", "Active", "Resources", "Description"],
      rows: projects.map(({ name, plans, activePlans, resources, description }) => [
        name,
        String(plans),
        String(activePlans),
        String(resources.length),
        orDash(description),
      ]),
      empty: "No projects yet.",
    },
  ],
  messages: listed(summary.total, "project"),
  next: summary.total === 0 ? [nextStep("project.create", { project: "<name>" })] : [],
});
