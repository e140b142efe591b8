import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"skill.remove"> = ({ skill, folder }) => ({
  view: [],
  messages: info(`Skill ${skill} is off the list${folder === null ? "" : `; ${folder} was not touched`}.`),
  next: [],
});
