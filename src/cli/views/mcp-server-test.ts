import type { OutputOf } from "../../app/table/operation-table.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import type { Element } from "../terminal/view.ts";

export const show: Show<"mcp.server.test"> = (output) => ({
  view: [
    {
      kind: "fields",
      title: output.server,
      rows: [
        ["name", output.name],
        ["version", output.version],
        ["protocol", output.protocol],
        ["resources", String(output.resources)],
        ["took", `${output.startMs} ms to start, ${output.listMs} ms to list`],
      ],
    },
    {
      kind: "table",
      title: "Tools",
      columns: [{ keep: "Name" }, "Description"],
      rows: output.tools.map(({ name, description }) => [name, description]),
      empty: "It has no tools.",
    },
    ...(output.prompts.length === 0 ? [] : [promptTable(output.prompts)]),
  ],
  messages: info(`The MCP server ${output.server} works: ${count(output.tools.length, "tool")}.`),
});

function promptTable(prompts: OutputOf<"mcp.server.test">["prompts"]): Element {
  return {
    kind: "table",
    title: "Prompts",
    columns: [{ keep: "Name" }, "Arguments", "Description"],
    rows: prompts.map(({ name, arguments: all, description }) => [
      name,
      all.map((one) => (one.required ? one.name : `[${one.name}]`)).join(" "),
      description,
    ]),
    empty: "",
  };
}
