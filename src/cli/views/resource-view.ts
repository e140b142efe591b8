/** A resource, and the projects that have it. */
import type { OutputOf } from "../../app/table/operation-table.ts";
import { worksInPlace } from "../../domain/resource/resource.ts";
import { accessText, orDash } from "../terminal/format.ts";
import type { View } from "../terminal/view.ts";

export function resourceView({ resource }: OutputOf<"resource.show">): View {
  return [
    {
      kind: "fields",
      title: resource.name,
      rows: [
        ["type", resource.type],
        ["description", orDash(resource.description)],
        ["path", resource.path],
        ["branch", orDash(resource.branch)],
        ["sandbox", worksInPlace(resource.sandbox) ? "none: plans work in place" : resource.sandbox.strategy],
        ["added", resource.createdAt],
      ],
    },
    {
      kind: "table",
      title: "Projects",
      columns: [{ keep: "Project" }, { keep: "Alias" }, "Access"],
      rows: resource.projects.map(({ name, alias, readOnly }) => [name, alias, accessText(readOnly)]),
      empty: "",
    },
  ];
}
