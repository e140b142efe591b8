import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"tool.try"> = (result) => {
  if ("tried" in result) return declined("run");
  const { tool, output, failure, patch, changes } = result;
  const failed = { level: "warning", text: failure ?? "" } as const;
  const message = changes.length === 0 ? `${tool} changed nothing.` : `${tool} would change ${changes.length} files.`;
  return {
    view: [
      { kind: "lines", title: "Output", lines: output.split("\n") },
      ...(patch === "" ? [] : ([{ kind: "lines", title: "Changes", lines: patch.split("\n") }] as const)),
    ],
    messages: [...(failure === null ? [] : [failed]), ...info(`${message} Nothing of it was kept.`)],
    ...(failure === null ? {} : { status: "warn" as const }),
  };
};
