import type { OutputOf } from "../../app/table/operation-table.ts";
import { count } from "../terminal/format.ts";
import { info, type Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { heldMessages, landingTables, placeText } from "./landings.ts";
import { lateEdits } from "./parts.ts";

export const show: Show<"plan.undo"> = (output) => {
  if (!output.undone) return declined("undone");
  const messages = [...doneMessages(output, "undone"), ...heldMessages(output.held), ...lateEdits(output.keptFiles)];
  return { view: landingTables("Undone", output.landings), messages };
};

type Changed = Pick<Extract<OutputOf<"plan.undo">, { undone: true }>, "planId" | "steps" | "landings">;

export function doneMessages({ planId, steps, landings }: Changed, deed: "undone" | "redone"): Message[] {
  const files = landings.reduce((sum, landing) => sum + landing.files.length, 0);
  const done =
    steps === null
      ? `Plan ${planId} is`
      : `Of plan ${planId}, ${steps.join(", ")} ${steps.length === 1 ? "is" : "are"}`;
  return info(`${done} ${deed}: ${count(files, "file")} changed${placeText("in", landings)}.`);
}
