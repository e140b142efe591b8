/** A tool and its parameters. */
import type { OutputOf } from "../../app/table/operation-table.ts";
import { orDash } from "../terminal/format.ts";
import type { View } from "../terminal/view.ts";

export type ShownTool = OutputOf<"tool.show">["tool"];

export function toolView(tool: ShownTool): View {
  const { kind, runs, timeoutMs, output, cwd, file, problem, env } = tool;
  return [
    {
      kind: "fields",
      title: tool.name,
      rows: [
        ["description", tool.description],
        ["from", file === null ? tool.from : `${tool.from}: ${file}`],
        ["state", stateText(tool)],
        ["writes", tool.writes ? "yes" : "no"],
        ...(kind === null
          ? []
          : ([[kind === "module" ? "module (outside the sandbox)" : kind, orDash(runs)]] as const)),
        ...(timeoutMs === null ? [] : ([["time limit", `${timeoutMs} ms`]] as const)),
        ...(output === null ? [] : ([["output", output]] as const)),
        ...(cwd === null ? [] : ([["directory", cwd]] as const)),
        ...Object.entries(env).map(([name, value]) => [name, value] as const),
        ...(problem === null ? [] : ([["problem", problem]] as const)),
      ],
    },
    { kind: "lines", title: "Parameters", lines: JSON.stringify(tool.parameters, null, 2).split("\n") },
  ];
}

export function stateText({ state }: ShownTool): string {
  return state === "not accepted" ? "not accepted: plans do not use it" : state;
}
