import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"plan.watch"> = ({ planId, standing, question, after }) => ({
  view: [],
  messages: [
    ...info(`Plan ${planId} is ${standing}${question === null ? "" : `: ${question}`}.`),
    ...info(`Watched up to event ${after}.`),
  ],
});
