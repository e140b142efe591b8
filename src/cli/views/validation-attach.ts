import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { scopeText } from "./validation-view.ts";

export const show: Show<"validation.attach"> = ({ attachment }) => {
  const { attachmentId, validation, mode, resource } = attachment;
  const where = `${resource}, ${scopeText(attachment)}: ${attachmentId}`;
  return {
    view: [],
    messages: info(`Validation ${validation} (${mode}) is attached to ${where}.`),
    next: [nextStep("validation.detach", { attachment: attachmentId })],
  };
};
