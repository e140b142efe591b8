import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

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
