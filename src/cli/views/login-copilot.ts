import { nextStep } from "../../domain/next-step.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

export const show: Show<"login.copilot"> = ({ provider, path }) => ({
  view: [],
  messages: info(`Logged in to ${provider}; the token is kept in ${path}.`),
  next: [nextStep("models.list", { provider, ask: true })],
});
