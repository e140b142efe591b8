import type { OutputOf } from "../../app/table/operation-table.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { usd } from "./parts.ts";

/** Standard output belongs to the program, so the bill goes to standard error. */
export const show: Show<"gateway"> = (output, { machine, io }) => {
  const line = lineOf(output);
  if (!machine) io.stderr.write(`${line}\n`);
  const { exitCode } = output;
  return { view: [], messages: info(line), text: "", ...(exitCode === null ? {} : { exitCode }) };
};

function lineOf({ cost, tokens, refusedCalls }: OutputOf<"gateway">): string {
  const { calls, spentUsd, assumedUsd, capUsd, unpricedCalls } = cost;
  const cached = tokens.cached === 0 ? "" : ` (${tokens.cached} cached)`;
  const paid = `${usd(spentUsd + assumedUsd)}${capUsd === null ? "" : ` of ${usd(capUsd)}`}`;
  return [
    `gateway: ${count(calls, "model call")}`,
    `${tokens.input} tokens in${cached}`,
    `${tokens.output} out`,
    paid,
    ...(assumedUsd === 0 ? [] : [`${usd(assumedUsd)} of it assumed for calls that broke off`]),
    ...(unpricedCalls === 0 ? [] : [`${count(unpricedCalls, "call")} at an unknown price`]),
    ...(refusedCalls === 0 ? [] : [`${count(refusedCalls, "call")} refused by the budget`]),
  ].join(", ");
}
