import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"jobs.cancel"> = ({ planId }) => ({
  view: [],
  messages: info(`Plan ${planId} is not queued any more; the plan stays as it is.`),
});
