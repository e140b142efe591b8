import { bytes, thousands } from "../terminal/format.ts";
import type { Show } from "../terminal/show.ts";
import { indexMessages } from "./context-messages.ts";
import { gapLines, languagesTable } from "./index-tables.ts";

export const show: Show<"context.analyze"> = (output) => {
  const { project, roots, files, lines, languages, definitions, largest, gaps, indexBytes, index } = output;
  return {
    view: [
      {
        kind: "fields",
        title: project ?? roots[0]?.path ?? "",
        rows: [
          ["files", `${thousands(files)}, ${thousands(lines)} lines, ${bytes(output.bytes)}`],
          ["definitions", definitionsText(definitions)],
          ["index", bytes(indexBytes)],
        ],
      },
      languagesTable(languages),
      {
        kind: "table",
        title: "Largest files",
        columns: ["File", "Size", "Lines", { keep: "Tokens" }],
        rows: largest.map((file) => [file.path, bytes(file.size), thousands(file.lines), thousands(file.tokens)]),
        empty: "",
      },
      ...gapLines(gaps),
    ],
    messages: index.flatMap(indexMessages),
  };
};

function definitionsText(definitions: Readonly<Record<string, number>>): string {
  const parts = Object.entries(definitions)
    .toSorted(([, a], [, b]) => b - a)
    .map(([kind, quantity]) => `${thousands(quantity)} ${kind}`);
  return parts.join(", ") || "none";
}
