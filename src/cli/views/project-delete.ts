import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"project.delete"> = (output) => {
  if (!output.deleted) return declined("deleted");
  const { project, plansCancelled, resourcesUnlinked } = output.deletionSummary;
  const parts = [
    `Project ${project} deleted`,
    ...(plansCancelled.length === 0 ? [] : [`${count(plansCancelled.length, "plan")} cancelled`]),
    ...(resourcesUnlinked === 0 ? [] : [`${count(resourcesUnlinked, "resource")} unlinked`]),
  ];
  return { view: [], messages: info(`${parts.join("; ")}.`) };
};
