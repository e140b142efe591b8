import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"plan.prompt"> = ({ planId, answered, revisesStrategy, continuesPlan }) => {
  const noted = revisesStrategy
    ? `Noted: plan ${planId} gets another strategy, which is shown before anything is done.`
    : continuesPlan
      ? `Noted: plan ${planId} continues with this when you execute it.`
      : `Noted: plan ${planId} will be told at its next step.`;
  const text = answered === null ? noted : `Answered: "${answered}" Plan ${planId} can continue.`;
  return { view: [], messages: info(text) };
};
