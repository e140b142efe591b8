import { count } from "../terminal/format.ts";
import type { Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { contextMessages, type SeenContext } from "./context-messages.ts";
import { usedText } from "./context-tables.ts";

/** The text alone on stdout, so that it can be piped; everything else on stderr. */
export const show: Show<"context.pack"> = (output, { machine, io }) => {
  const { question, budget, gaps, context, text } = output;
  const seen: SeenContext = { ...output, query: question, available: budget.availableBudget };
  // That no embedding model is configured need not be said each time.
  const missing = gaps.filter(({ kind }) => kind !== "backend");
  const messages: Message[] = [
    ...contextMessages(seen),
    ...missing.map(({ name, reason }) => ({ level: "warning", text: `${name}: ${reason}` }) as const),
    { level: "info", text: `${count(context.fragments.length, "fragment")}, ${usedText(seen)}.${foundBy(context)}` },
    ...leftOut(output),
  ];
  if (!machine) {
    for (const message of messages) {
      io.stderr.write(`${message.level === "warning" ? "warning: " : ""}${message.text}\n`);
    }
  }
  return { view: [], messages, text };
};

/** How many of the shown fragments each strategy found. */
function foundBy({ fragments }: SeenContext["context"]): string {
  const found = new Map<string, number>();
  for (const { strategies } of fragments) for (const name of strategies) found.set(name, (found.get(name) ?? 0) + 1);
  const words = Array.from(found, ([name, pieces]) => `${name} (${pieces})`);
  return words.length === 0 ? "" : ` Found by ${words.toSorted().join(", ")}.`;
}

function leftOut({ excluded }: Pick<SeenContext, "excluded">): Message[] {
  const dropped = excluded.filter(({ reason }) => reason === "budget").length;
  const limited = excluded.filter(({ reason }) => reason === "size limit" || reason === "file limit").length;
  return [
    ...(dropped === 0 ? [] : [`Left out for lack of space: ${count(dropped, "fragment")}.`]),
    ...(limited === 0 ? [] : [`Left out because of the limits of this view: ${count(limited, "fragment")}.`]),
  ].map((text) => ({ level: "info", text }));
}
