import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"plan.wait"> = ({ planId, standing }) => ({
  view: [],
  messages: info(`Plan ${planId} is ${standing}.`),
});
