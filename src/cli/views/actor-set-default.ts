import { nextStep } from "../../domain/next-step.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

export const show: Show<"actor.set-default"> = ({ role, actor }) => ({
  view: [],
  messages: info(`Plans whose action names no ${role} actor now have ${actor}.`),
  next: [nextStep("actor.list")],
});
