import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"plan.prompt"> = ({ planId, answered, revisesStrategy }) => {
  const noted = revisesStrategy
    ? `Noted: plan ${planId} gets another strategy, which is shown before anything is done.`
    : `Noted: plan ${planId} will be told at its next step.`;
  const text = answered === null ? noted : `Answered: "${answered}" Plan ${planId} can continue.`;
  return { view: [], messages: info(text) };
};
