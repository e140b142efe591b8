import type { OutputOf } from "../../app/table/operation-table.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Picture, Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { landingTable } from "./landings.ts";
import { firstFew, lateEdits } from "./parts.ts";

type Output = OutputOf<"plan.apply">;

export const show: Show<"plan.apply"> = (output) => applyPicture(output);

export function applyPicture(output: Output): Picture {
  if (!output.applied) return declined("applied");
  const { planId, artifacts, changes, landings, inPlace, changedSince, keptFiles } = output;
  const amount = `${count(artifacts, "file")} (+${changes.insertions} −${changes.deletions})`;
  const already = inPlace.map(({ path }) => path).join(", ");
  return {
    view: [landingTable("Applied", landings)],
    messages: [
      ...info(
        `Plan ${planId} is applied: ${amount}${already === "" ? "" : `; the changes are in ${already} already`}.`,
      ),
      ...(changedSince.length === 0
        ? []
        : info(`Others changed these since, and their changes stay: ${firstFew(changedSince)}.`)),
      ...lateEdits(keptFiles),
    ],
  };
}
