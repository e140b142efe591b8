import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { spendingCell, usd } from "./parts.ts";

export const show: Show<"plan.budget"> = ({ planId, cost, group }, { input }) => {
  const changed =
    group !== null
      ? `All candidates of its request may cost ${group.capUsd === null ? "any amount" : usd(group.capUsd)} in all.`
      : cost.capUsd === null
        ? `Plan ${planId} has no budget limit.`
        : `The models of plan ${planId} may cost ${usd(cost.capUsd)} in all.`;
  return {
    view: [
      {
        kind: "fields",
        title: `Budget of plan ${planId}`,
        rows: [
          ["plan", spendingCell(cost)],
          ...(group === null ? [] : [["all candidates", spendingCell(group)] as const]),
          ["today (UTC)", spendingCell(cost.today)],
        ],
      },
    ],
    messages: input.dollars === undefined ? [] : info(changed),
  };
};
