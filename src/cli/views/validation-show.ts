import { nextStep } from "../../domain/errors/next-step.ts";
import type { Show } from "../terminal/show.ts";
import { validationView } from "./validation-view.ts";

export const show: Show<"validation.show"> = ({ validation }) => ({
  view: validationView(validation),
  messages: [],
  next:
    validation.attachments.length === 0
      ? [nextStep("validation.attach", { resource: "<resource>", validation: validation.name })]
      : [],
});
