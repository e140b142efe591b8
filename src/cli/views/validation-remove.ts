import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"validation.remove"> = (output) =>
  output.removed ? { view: [], messages: info(`Validation ${output.validation} removed.`) } : declined("removed");
