import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"skill.add"> = ({ skill }) => ({
  view: [],
  messages: info(`Skill ${skill.name} added: plans that begin from now on have it.`),
  next: [nextStep("skill.show", { skill: skill.name })],
});
