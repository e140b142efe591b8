import { info } from "../outcome.ts";
import type { Show } from "../show.ts";
import { declined } from "./declined.ts";

export const show: Show<"validation.remove"> = (output) =>
  output.removed ? { view: [], messages: info(`Validation ${output.validation} removed.`) } : declined("removed");
