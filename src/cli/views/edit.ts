import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"edit"> = (output) => {
  const { kind } = output;
  if ("names" in output) {
    const [first = "<name>"] = output.names;
    return {
      view: [
        {
          kind: "table",
          title: `Definitions of the kind ${kind}`,
          columns: ["name"],
          rows: output.names.map((name) => [name]),
          empty: "There are none.",
        },
      ],
      messages: [],
      next: [nextStep("edit", { kind, name: first })],
    };
  }
  const { name, replaced, file } = output;
  if (replaced) return { view: [], messages: info(`${name} was replaced.`) };
  if (file === null) return { view: [], messages: info(`${name} was not changed.`) };
  const text = `${name} was not changed; your text is in ${file}.`;
  return { view: [], messages: [{ level: "warning", text }], status: "warn" };
};
