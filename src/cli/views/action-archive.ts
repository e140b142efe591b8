import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"action.archive"> = ({ action }) => ({
  view: [],
  messages: info(`Action ${action.name} is archived; its plans continue.`),
});
