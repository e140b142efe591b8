import { stateText } from "../../domain/plan/standing.ts";
import type { OutputOf } from "../../app/table/operation-table.ts";
import { count, shortInstant } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Picture, Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

type Output = OutputOf<"plan.rollback">;

export const show: Show<"plan.rollback"> = (output) => {
  if (!("rolledBack" in output)) return listed(output);
  return output.rolledBack ? rolledBack(output) : declined("rolled back");
};

function rolledBack({ planId, checkpoint, impact, postRollback }: Extract<Output, { rolledBack: true }>): Picture {
  const { afterStep } = checkpoint;
  const place = afterStep === null ? "the point before all steps" : `the point after step "${afterStep}"`;
  return {
    view: [
      {
        kind: "fields",
        title: "Impact",
        rows: [
          ["back to", place],
          ["steps to run again", impact.steps.join(", ") || "-"],
          ["decisions discarded", String(impact.decisionsDiscarded)],
          ["tool calls undone", String(impact.toolCallsUndone)],
          ["files affected", impact.filesAffected.join("\n") || "-"],
          ["state", stateText(postRollback)],
          ["checkpoints left", String(postRollback.checkpoints)],
        ],
      },
    ],
    messages: info(`Plan ${planId} is back at ${place}; its sandboxes follow when it is executed.`),
  };
}

function listed({ planId, checkpoints }: Extract<Output, { checkpoints: unknown }>): Picture {
  return {
    view: [
      {
        kind: "table",
        title: `Checkpoints of plan ${planId}`,
        columns: [{ keep: "Id" }, "After step", "When (UTC)", "Changes", "Files"],
        rows: checkpoints.map(({ id, afterStep, at, changes, files }) => [
          id,
          afterStep ?? "(before all steps)",
          shortInstant(Date.parse(at)),
          String(changes),
          files.length > 3 ? `${files.slice(0, 3).join(", ")}, … (${files.length})` : files.join(", ") || "-",
        ]),
        empty: "",
      },
    ],
    messages: info(`${count(checkpoints.length, "checkpoint")} listed.`),
  };
}
