import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"actor.set-default"> = ({ role, actor }) => ({
  view: [],
  messages: info(`Plans whose action names no ${role} actor now have ${actor}.`),
  next: [nextStep("actor.list")],
});
