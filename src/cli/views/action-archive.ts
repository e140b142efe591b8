import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

export const show: Show<"action.archive"> = ({ action }) => ({
  view: [],
  messages: info(`Action ${action.name} is archived; its plans continue.`),
});
