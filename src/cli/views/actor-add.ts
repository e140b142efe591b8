import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { actorView } from "./actor-view.ts";
import { replacedOr } from "./parts.ts";
import { declined } from "./declined.ts";

export const show: Show<"actor.add"> = (output) => {
  if ("added" in output) return declined("added");
  const { actors, actorAdded } = output;
  return {
    view: actors.flatMap((actor) => actorView(actor, [])),
    messages: actors.flatMap(({ name, version = 1 }) => info(`Actor ${name} ${replacedOr("added", version)}.`)),
    next: [
      nextStep("actor.show", { actor: actorAdded.name }),
      nextStep("action.create", { definition: { file: "<file>" } }),
    ],
  };
};
