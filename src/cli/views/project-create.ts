import { nextStep } from "../../domain/errors/next-step.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"project.create"> = ({ project }) => {
  const { name, resources } = project;
  const linked = resources.length === 0 ? "" : ` with ${count(resources.length, "resource")}`;
  return {
    view: [],
    messages: info(`Project ${name} created${linked}.`),
    next: [nextStep("plan.use", { action: "<action>", projects: [name] })],
  };
};
