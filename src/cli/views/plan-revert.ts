import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"plan.revert"> = ({ planId, attempt }) => ({
  view: [],
  messages: info(`Plan ${planId} is back at strategize for attempt ${attempt}.`),
});
