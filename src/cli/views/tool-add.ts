import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { toolView } from "./tool-view.ts";

export const show: Show<"tool.add"> = (output) => {
  if ("added" in output) return declined("added");
  const { tool } = output;
  const outside = {
    level: "warning",
    text: "It runs outside of the sandbox, with all your rights; only plans whose profile allows unsafe tools have it.",
  } as const;
  return {
    view: toolView(tool),
    messages: [...info(`Tool ${tool.name} added.`), ...(tool.kind === "module" ? [outside] : [])],
    next: [nextStep("tool.try", { tool: tool.name })],
  };
};
