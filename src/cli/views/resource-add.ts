import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { resourceView } from "./resource-view.ts";

export const show: Show<"resource.add"> = (output) => {
  const { name } = output.resource;
  return {
    view: resourceView(output),
    messages: info(`Resource ${name} added.`),
    next: [nextStep("project.link-resource", { project: "<project>", resource: name })],
  };
};
