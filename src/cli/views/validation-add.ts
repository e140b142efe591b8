import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { replacedOr } from "./parts.ts";
import { validationView } from "./validation-view.ts";

export const show: Show<"validation.add"> = (output) => {
  if ("added" in output) return declined("added");
  const { validation } = output;
  return {
    view: validationView(validation),
    messages: info(`Validation ${validation.name} ${replacedOr("added", validation.version)}.`),
    next: [nextStep("validation.attach", { resource: "<resource>", validation: validation.name })],
  };
};
