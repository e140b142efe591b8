import { nextStep } from "../../domain/next-step.ts";
import { count } from "../format.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

export const show: Show<"models.refresh"> = ({ source, models, providers, path }) => ({
  view: [],
  messages: info(`${count(models, "model")} of ${count(providers, "provider")} from ${source}, kept in ${path}.`),
  next: [nextStep("models.list")],
});
