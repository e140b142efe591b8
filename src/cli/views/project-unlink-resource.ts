import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

export const show: Show<"project.unlink-resource"> = ({ project, resource: { name, alias } }) => ({
  view: [],
  messages: info(`Project ${project} no longer has ${name} (it was ${alias}).`),
});
