/** A diff with colors, and its files as a table. */
import type * as z from "zod";
import type { PlanDiffFacts } from "../../app/queries/diff-facts.ts";
import { painter, type Screen } from "../terminal/render.ts";
import { joined, type Text } from "../terminal/terminal-text.ts";
import { toned, type Element, type Tone } from "../terminal/view.ts";

type ChangedFile = z.output<typeof PlanDiffFacts>["files"][number];

const CHANGE_TONES = { added: "good", deleted: "bad", modified: "warn", mode: "dim" } as const;

export function fileTable(files: readonly ChangedFile[]): Element {
  return {
    kind: "table",
    title: "Changes",
    columns: [{ keep: "Path" }, "Resource", "Change", "Bytes", "Steps"],
    rows: files.map((file) => [
      file.path,
      file.resource,
      toned(file.change, CHANGE_TONES[file.change]),
      String(file.size),
      file.steps.join(", "),
    ]),
    empty: "No changes.",
  };
}

const LINE_TONES: readonly (readonly [string, Tone])[] = [
  ["diff ", "strong"],
  ["+++", "strong"],
  ["---", "strong"],
  ["@@", "dim"],
  ["+", "good"],
  ["-", "bad"],
];

export function colored(patch: string, screen: Screen): Text {
  const paint = painter(screen);
  const lines = patch.split("\n").map((line) => {
    const tone = LINE_TONES.find(([prefix]) => line.startsWith(prefix))?.[1];
    return tone === undefined ? lineEnd(line, "") : paint(lineEnd(line, "^M"), tone);
  });
  return joined(lines, "\n");
}

/**
 * A line that ends in CR LF, as git shows it: a changed line end may be the whole change, elsewhere it says nothing.
 */
function lineEnd(line: string, mark: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) + mark : line;
}
