/** The contents of an index: languages, and files that are not or not completely in it. */
import type * as z from "zod";
import type { IndexGapFacts, LanguageFacts } from "../../app/procedures/index-report.ts";
import { bytes, thousands } from "../terminal/format.ts";
import { oneLine } from "../terminal/terminal-text.ts";
import { toned, type Element } from "../terminal/view.ts";

const NAMED_GAPS = 20;

export function languagesTable(languages: readonly z.output<typeof LanguageFacts>[]): Element {
  return {
    kind: "table",
    title: "Languages",
    columns: [{ keep: "Language" }, "Files", "Lines", "Size"],
    rows: languages.map(({ language, files, lines, bytes: size }) => [
      language,
      thousands(files),
      thousands(lines),
      bytes(size),
    ]),
    empty: "No file is indexed.",
  };
}

export function gapLines(gaps: readonly z.output<typeof IndexGapFacts>[]): Element[] {
  if (gaps.length === 0) return [];
  const rows = gaps
    .slice(0, NAMED_GAPS)
    .map(({ resource, path, reason }) => [oneLine(`${resource}:${path}`), toned(reason, "warn")] as const);
  const more = gaps.length - rows.length;
  return [
    {
      kind: "fields",
      title: "Not, or not completely, indexed",
      rows: [...rows, ...(more > 0 ? [["others", toned(`${more} more`, "dim")] as const] : [])],
    },
  ];
}
