import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { landingTables } from "./landings.ts";
import { lateEdits } from "./parts.ts";
import { doneMessages } from "./plan-undo.ts";

export const show: Show<"plan.redo"> = (output) => {
  if (!output.redone) return declined("redone");
  const messages = [...doneMessages(output, "redone"), ...lateEdits(output.keptFiles)];
  return { view: landingTables("Redone", output.landings), messages };
};
