import { nextStep } from "../../domain/next-step.ts";
import { count, orDash } from "../format.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

export const show: Show<"resource.list"> = ({ resources, filters, summary }) => ({
  view: [
    {
      kind: "table",
      title: "Resources",
      columns: [{ keep: "Name" }, "Type", "Projects", "Branch", "Path"],
      rows: resources.map(({ name, type, projects, branch, path }) => [
        name,
        type,
        String(projects.length),
        orDash(branch),
        path,
      ]),
      empty: filters.type === null && filters.namespace === null ? "No resources yet." : "No resource fits.",
    },
  ],
  messages: info(`${count(summary.total, "resource")} listed.`),
  next: summary.total === 0 ? [nextStep("resource.add", { type: "<type>", resource: "<name>", path: "<path>" })] : [],
});
