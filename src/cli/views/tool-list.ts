import { nextStep } from "../../domain/errors/next-step.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { stateText } from "./tool-view.ts";

export const show: Show<"tool.list"> = ({ tools, summary }) => ({
  view: [
    {
      kind: "table",
      title: "Tools",
      columns: [{ keep: "Name" }, "From", "State", "Writes", "Description"],
      rows: tools.map((tool) => [
        tool.name,
        tool.from,
        stateText(tool),
        tool.writes ? "yes" : "no",
        tool.problem ?? tool.description,
      ]),
      empty: "No tools besides the built-in ones yet.",
    },
  ],
  messages: info(`${count(summary.total, "tool")} listed, besides ${summary.builtIn} built-in ones.`),
  next: [
    ...(summary.notAccepted > 0 ? [nextStep("tool.accept")] : []),
    ...(summary.total === 0 ? [nextStep("tool.add", { definition: { file: "<file>" } })] : []),
  ],
});
