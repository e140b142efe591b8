import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"automation-profile.remove"> = (output) =>
  output.removed
    ? {
        view: [],
        messages: info(`Automation profile ${output.profile} removed; plans that were made with it keep it.`),
      }
    : declined("removed");
