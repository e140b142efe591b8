import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { validationView } from "./validation-view.ts";

export const show: Show<"validation.add"> = (output) => {
  if ("added" in output) return declined("added");
  const { validation } = output;
  return {
    view: validationView(validation),
    messages: info(`Validation ${validation.name} added.`),
    next: [nextStep("validation.attach", { resource: "<resource>", validation: validation.name })],
  };
};
