import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"project.unlink-resource"> = ({ project, resource: { name, alias } }) => ({
  view: [],
  messages: info(`Project ${project} no longer has ${name} (it was ${alias}).`),
});
