import { count } from "../terminal/format.ts";
import type { Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { contextMessages, type SeenContext } from "./context-messages.ts";
import { usedText } from "./context-tables.ts";

/** The text alone on stdout, so that it can be piped; everything else on stderr. */
export const show: Show<"context.pack"> = (output, { machine, io }) => {
  const { question, budget, gaps, context, text } = output;
  const seen: SeenContext = { ...output, query: question, available: budget.availableBudget };
  // That no backend is configured is said in the text itself, and need not be said each time.
  const missing = gaps.filter(({ kind }) => kind !== "backend");
  const messages: Message[] = [
    ...contextMessages(seen),
    ...missing.map(({ name, reason }) => ({ level: "warning", text: `${name}: ${reason}` }) as const),
    { level: "info", text: `${count(context.fragments.length, "fragment")}, ${usedText(seen)}.` },
  ];
  if (!machine) {
    for (const message of messages) {
      io.stderr.write(`${message.level === "warning" ? "warning: " : ""}${message.text}\n`);
    }
  }
  return { view: [], messages, text };
};
