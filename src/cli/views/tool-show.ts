import { nextStep } from "../../domain/errors/next-step.ts";
import type { Show } from "../terminal/show.ts";
import { toolView } from "./tool-view.ts";

export const show: Show<"tool.show"> = ({ tool }) => ({
  view: toolView(tool),
  messages: [],
  next:
    tool.state === "not accepted"
      ? [nextStep("tool.accept")]
      : tool.from === "built-in"
        ? []
        : [nextStep("tool.try", { tool: tool.name })],
});
