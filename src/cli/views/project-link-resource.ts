import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"project.link-resource"> = ({ project, resource: { name, alias, readOnly } }) => ({
  view: [],
  messages: info(`Project ${project} has ${name} as ${alias}${readOnly ? ", read-only" : ""}.`),
  next: [nextStep("project.show", { project })],
});
