import { nextStep } from "../../domain/errors/next-step.ts";
import { count, orDash } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

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
