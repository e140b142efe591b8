import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

const WAYS = { yours: "as it is now", plan: "as the plan has it", merged: "merged", agent: "for its actor" } as const;

export const show: Show<"plan.resolve"> = (output) => {
  if (!output.resolved) return declined("resolved");
  const { planId, files, patch } = output;
  const many = count(files.length, "conflict");
  return {
    view: [
      {
        kind: "table",
        title: "Resolved",
        columns: [{ keep: "File" }, "How"],
        rows: files.map(({ resource, path, how }) => [`${resource}/${path}`, WAYS[how]]),
        empty: "",
      },
    ],
    messages: info(
      patch === null
        ? `Plan ${planId} continues with ${many}. Nothing of yours was changed.`
        : `${many} of plan ${planId} ${files.length === 1 ? "is" : "are"} resolved. Nothing of yours was changed.`,
    ),
  };
};
