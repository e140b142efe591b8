import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { planPicture } from "./plan-status.ts";

export const show: Show<"plan.wait"> = (output, { verbose }) => ({
  ...planPicture(output, verbose),
  ...(output.timedOut ? { messages: info("The time is over, and the plan is still worked on.") } : {}),
});
