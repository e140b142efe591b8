import { count } from "../format.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

export const show: Show<"resource.type.list"> = ({ resourceTypes, summary }) => ({
  view: [
    {
      kind: "table",
      title: "Resource types",
      columns: [{ keep: "Type" }, "Source", "Sandbox", "Description"],
      rows: resourceTypes.map(({ name, source, sandbox, description }) => [
        name,
        source,
        sandbox.strategy,
        description,
      ]),
      empty: "",
    },
  ],
  messages: info(`${count(summary.total, "resource type")} listed.`),
});
