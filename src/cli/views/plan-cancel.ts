import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"plan.cancel"> = ({ planId, phase, changedInPlace, recovery }) => {
  const where = changedInPlace.map(({ path }) => path).join(", ");
  return {
    view: [],
    messages: [
      ...info(`Plan ${planId} cancelled in ${phase}; everything it recorded is kept.`),
      ...(where === "" ? [] : [{ level: "warning", text: `Its changes in place are still in ${where}.` } as const]),
    ],
    next: recovery,
  };
};
