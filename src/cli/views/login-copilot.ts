import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"login.copilot"> = ({ provider, path }) => ({
  view: [],
  messages: info(`Logged in to ${provider}; the token is kept in ${path}.`),
  next: [nextStep("models.list", { provider, ask: true })],
});
