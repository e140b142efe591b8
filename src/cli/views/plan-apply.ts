import type { OutputOf } from "../../app/table/operation-table.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Picture, Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { landingTables, placeText } from "./landings.ts";
import { firstFew, lateEdits } from "./parts.ts";

type Output = OutputOf<"plan.apply">;

export const show: Show<"plan.apply"> = (output) => applyPicture(output);

/** `paid`: what a run cost that ends with this, said with its result. */
export function applyPicture(output: Output, paid = ""): Picture {
  if (!output.applied) return declined("applied");
  const { planId, artifacts, changes, changesLeft, landings, inPlace, changedSince, keptFiles } = output;
  const amount = `${count(artifacts, "file")} (+${changes.insertions} −${changes.deletions})`;
  const already = inPlace.map(({ path }) => path).join(", ");
  return {
    view: landingTables("Applied", landings),
    messages: [
      ...info(
        `Plan ${planId} is applied: ${amount}${placeText("to", landings)}${already === "" ? "" : `; the changes are in ${already} already`}.${paid}`,
      ),
      ...(changesLeft === 0
        ? []
        : info(`${count(changesLeft, "change")} left out, as reviewed: agents plan review ${planId}`)),
      ...(changedSince.length === 0
        ? []
        : info(`Others changed these since, and their changes stay: ${firstFew(changedSince)}.`)),
      ...lateEdits(keptFiles),
    ],
  };
}
