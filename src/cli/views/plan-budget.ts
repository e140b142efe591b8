import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { spendingCell, usd } from "./parts.ts";

export const show: Show<"plan.budget"> = ({ planId, cost }, { input }) => {
  const changed =
    cost.capUsd === null
      ? `Plan ${planId} has no budget limit.`
      : `The models of plan ${planId} may cost ${usd(cost.capUsd)} in all.`;
  return {
    view: [
      {
        kind: "fields",
        title: `Budget of plan ${planId}`,
        rows: [
          ["plan", spendingCell(cost)],
          ["today (UTC)", spendingCell(cost.today)],
        ],
      },
    ],
    messages: input.dollars === undefined ? [] : info(changed),
  };
};
