import { nextStep } from "../../domain/errors/next-step.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"models.refresh"> = ({ source, models, providers, path }) => ({
  view: [],
  messages: info(`${count(models, "model")} of ${count(providers, "provider")} from ${source}, kept in ${path}.`),
  next: [nextStep("models.list")],
});
