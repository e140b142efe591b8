import { nextStep } from "../../domain/errors/next-step.ts";
import { orDash } from "../terminal/format.ts";
import type { Show } from "../terminal/show.ts";
import { listed } from "./parts.ts";

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
  messages: listed(summary.total, "resource"),
  next: summary.total === 0 ? [nextStep("resource.add", { type: "<type>", resource: "<name>", path: "<path>" })] : [],
});
