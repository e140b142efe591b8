import { count } from "../terminal/format.ts";
import { info, type Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { indexMessages } from "./context-messages.ts";
import { gapLines, languagesTable } from "./index-tables.ts";

export const show: Show<"project.context.index"> = (output) => {
  const { project, files, languages, gaps, durationMs, embedded, embeddingModel, resources } = output;
  const took = `it took ${(durationMs / 1_000).toFixed(1)} s`;
  return {
    view: [languagesTable(languages), ...gapLines(gaps)],
    messages: [
      ...resources.flatMap(indexMessages),
      ...(embeddingModel === null ? [] : embeddedMessages(embedded ?? 0, embeddingModel)),
      ...info(`${count(files, "file")} of ${project} ${files === 1 ? "is" : "are"} indexed; ${took}.`),
    ],
  };
};

function embeddedMessages(files: number, model: string): Message[] {
  return info(
    files === 0 ? `Nothing had to be embedded by ${model}.` : `${count(files, "file")} embedded by ${model}.`,
  );
}
