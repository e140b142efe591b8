import { accessText, orDash } from "../terminal/format.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"project.show"> = ({ project }) => ({
  view: [
    {
      kind: "fields",
      title: project.name,
      rows: [
        ["description", orDash(project.description)],
        ["plans", `${project.plans} (${project.activePlans} active)`],
        ["created", project.createdAt],
      ],
    },
    {
      kind: "table",
      title: "Resources",
      columns: [{ keep: "Alias" }, { keep: "Resource" }, "Type", "Access", "Branch", "Path"],
      rows: project.resources.map(({ alias, name, type, readOnly, branch, path }) => [
        alias,
        name,
        type,
        accessText(readOnly),
        orDash(branch),
        path,
      ]),
      empty: "",
    },
  ],
  messages: [],
});
