import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

export const show: Show<"plan.revert"> = ({ planId, attempt }) => ({
  view: [],
  messages: info(`Plan ${planId} is back at strategize for attempt ${attempt}.`),
});
