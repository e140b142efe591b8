import { count, shortInstant } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned } from "../terminal/view.ts";

export const show: Show<"plan.errors"> = ({ planId, errors, recoveryHints }) => ({
  view: [
    {
      kind: "table",
      title: `Errors of plan ${planId}`,
      columns: [{ keep: "When (UTC)" }, "Phase", "Attempt", "Kind", "What"],
      rows: errors.map((failure) => [
        shortInstant(Date.parse(failure.at)),
        failure.phase,
        String(failure.attempt),
        toned(`${failure.kind}, ${failure.category}`, failure.kind === "errored" ? "bad" : "warn"),
        failure.message,
      ]),
      empty: "",
    },
  ],
  messages: info(errors.length === 0 ? "Nothing went wrong so far." : `${count(errors.length, "error")} listed.`),
  next: recoveryHints.map(({ cliCommand, message }) =>
    "text" in cliCommand ? cliCommand : { ...cliCommand, note: message },
  ),
});
