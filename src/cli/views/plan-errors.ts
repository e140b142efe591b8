import { count, shortInstant } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned } from "../terminal/view.ts";

export const show: Show<"plan.errors"> = ({ planId, errors, recoveryHints }) => ({
  view: [
    {
      kind: "lines",
      title: `Errors of plan ${planId}`,
      lines: errors.flatMap(({ at, phase, attempt, kind, category, message }) => [
        toned(
          `${shortInstant(Date.parse(at))}  ${phase}, attempt ${attempt}: ${kind}, ${category}`,
          kind === "errored" ? "bad" : "warn",
        ),
        `  ${message}`,
      ]),
    },
  ],
  messages: info(errors.length === 0 ? "Nothing went wrong so far." : `${count(errors.length, "error")} listed.`),
  next: recoveryHints.map(({ cliCommand, message }) =>
    "text" in cliCommand ? cliCommand : { ...cliCommand, note: message },
  ),
});
