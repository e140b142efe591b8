import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"audit.verify"> = ({ entries, chains, seals, head, entriesSinceExpected, notChecked }) => ({
  view: [
    {
      kind: "fields",
      title: "Audit log",
      rows: [
        ["entries", String(entries)],
        ["chains", String(chains)],
        ["seals", String(seals)],
        ["head", head ?? "(empty)"],
      ],
    },
  ],
  messages: [
    ...info("The entries of the audit log are unchanged, and the state of every plan agrees with them."),
    ...info(sealed(entriesSinceExpected)),
    ...info(`Not checked, because it is kept beside the log: ${notChecked.join(", ")}.`),
  ],
});

/**
 * An earlier head vouches for the entries sealed under it; a log that was rewritten as a whole verifies without one.
 */
function sealed(sinceExpected: number | null): string {
  if (sinceExpected === null) {
    return "Only a head that was kept elsewhere (--expect) shows whether all of it was replaced.";
  }
  const since =
    sinceExpected === 0 ? "" : ` It says nothing about the ${count(sinceExpected, "entry", "entries")} since.`;
  return `Nothing was removed from or added to the log before the expected head.${since}`;
}
