import type { OutputOf } from "../../app/table/operation-table.ts";
import { count } from "../terminal/format.ts";
import type { Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { usd } from "./parts.ts";

/** The answer alone is on standard output, so that it can be piped; the rest is for the person who watches. */
export const show: Show<"actor.run"> = (output, { machine, io }) => {
  const messages = messagesOf(output);
  if (!machine) {
    for (const { level, text } of messages) io.stderr.write(`${level === "warning" ? "warning: " : ""}${text}\n`);
  }
  // On a terminal the answer of a model was shown as it arrived.
  const seen = io.outTerminal.isTTY && output.actorRun.type === "llm" && output.response !== "";
  return { view: [], messages, text: seen ? "" : `${output.response.trimEnd()}\n` };
};

function messagesOf({ response, usage }: OutputOf<"actor.run">): Message[] {
  const { inputTokens, outputTokens, maskedSecrets, estimated, costUsd } = usage;
  const price = costUsd === null ? "at an unknown price" : `for ${usd(costUsd)}`;
  const used = `${inputTokens} tokens in, ${outputTokens} out, ${price}${estimated ? " (counted here)" : ""}.`;
  return [
    ...(response.trim() === "" ? [{ level: "warning", text: "The answer is empty." } as const] : []),
    ...(maskedSecrets === 0 ? [] : [{ level: "info", text: `${count(maskedSecrets, "secret")} masked.` } as const]),
    { level: "info", text: used },
  ];
}
