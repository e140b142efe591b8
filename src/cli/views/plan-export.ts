import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"plan.export"> = ({ exported, planId }) => ({
  view: [
    {
      kind: "table",
      title: "Exported",
      columns: ["Resource", { keep: "Commit" }, { keep: "Branch" }, { keep: "Files" }],
      rows: exported.map(({ resource, commit, branch, files }) => [
        resource,
        commit.slice(0, 12),
        branch ?? "-",
        files.join(", ") || "-",
      ]),
      empty: "Nothing was exported.",
    },
  ],
  messages: info(`Plan ${planId} is exported; it is not applied, and can still be.`),
});
