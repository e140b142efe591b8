import { nextStep } from "../../domain/next-step.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";
import { scopeText } from "./validation.ts";

export const show: Show<"validation.attach"> = ({ attachment }) => {
  const { attachmentId, validation, mode, resource } = attachment;
  const where = `${resource}, ${scopeText(attachment)}: ${attachmentId}`;
  return {
    view: [],
    messages: info(`Validation ${validation} (${mode}) is attached to ${where}.`),
    next: [nextStep("validation.detach", { attachment: attachmentId })],
  };
};
