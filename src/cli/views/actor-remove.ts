import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"actor.remove"> = (output) => {
  if (!output.removed) return declined("removed");
  const { actor, defaultFor = [] } = output;
  const warnings = defaultFor.map((role) => ({
    level: "warning" as const,
    text: `It was the default for ${role}; name another.`,
  }));
  return {
    view: [],
    messages: [...info(`Actor ${actor} removed.`), ...warnings],
    status: defaultFor.length === 0 ? "ok" : "warn",
    next: defaultFor.map((role) => nextStep("actor.set-default", { role, actor: "<actor>" })),
  };
};
