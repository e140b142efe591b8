import { nextStep } from "../../domain/next-step.ts";
import { count, orDash } from "../format.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

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
  messages: info(`${count(summary.total, "project")} listed.`),
  next: summary.total === 0 ? [nextStep("project.create", { project: "<name>" })] : [],
});
