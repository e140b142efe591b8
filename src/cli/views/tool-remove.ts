import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"tool.remove"> = (output) =>
  output.removed ? { view: [], messages: info(`Tool ${output.tool} removed.`) } : declined("removed");
