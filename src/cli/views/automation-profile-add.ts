import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { profileView } from "./profile-view.ts";

export const show: Show<"automation-profile.add"> = ({ profile }) => ({
  view: profileView(profile),
  messages: info(`Automation profile ${profile.name} added.`),
  next: [nextStep("plan.use", { action: "<action>", projects: ["<project>"], automationProfile: profile.name })],
});
