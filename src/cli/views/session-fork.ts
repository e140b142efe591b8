import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"session.fork"> = ({ number, title, plans }) => ({
  view: [],
  messages: info(`Session ${number} shares ${count(plans, "turn")} of "${title}", and goes its own way from there.`),
});
