import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"resource.remove"> = (output) =>
  output.removed
    ? { view: [], messages: info(`Resource ${output.resource} removed; its files were not touched.`) }
    : declined("removed");
