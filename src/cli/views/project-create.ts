import { nextStep } from "../../domain/next-step.ts";
import { count } from "../format.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

export const show: Show<"project.create"> = ({ project }) => {
  const { name, resources } = project;
  const linked = resources.length === 0 ? "" : ` with ${count(resources.length, "resource")}`;
  return {
    view: [],
    messages: info(`Project ${name} created${linked}.`),
    next: [nextStep("plan.use", { action: "<action>", projects: [name] })],
  };
};
