import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { replacedOr } from "./parts.ts";
import { actionView } from "./action-view.ts";

export const show: Show<"action.create"> = ({ action }) => {
  const required = action.arguments.filter((argument) => argument.required && argument.default === null);
  const values = Object.fromEntries(required.map(({ name }) => [name, "<value>"]));
  return {
    view: actionView(action),
    messages: info(`Action ${action.name} ${replacedOr("created", action.version)}.`),
    next: [nextStep("plan.use", { action: action.name, projects: ["<project>"], arguments: values })],
  };
};
