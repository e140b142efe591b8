/**
 * The view of a command's result for a person, independent of how it is drawn. The machine formats never see it: they
 * print the command's data. Every renderer draws the same few elements, so a command cannot look right in one format
 * and wrong in another.
 */
export type Tone = "good" | "bad" | "warn" | "dim" | "strong" | "good word" | "bad word";
export type Cell = string | { readonly text: string; readonly tone: Tone };

export type Element =
  | {
      readonly kind: "fields";
      readonly title: string;
      readonly rows: readonly (readonly [label: string, value: Cell])[];
    }
  | {
      readonly kind: "table";
      readonly title: string;
      /** A `keep` column is never cut: ids must stay fit to be copied. */
      readonly columns: readonly (string | { readonly keep: string })[];
      readonly rows: readonly (readonly Cell[])[];
      /** Shown instead of an empty table. */
      readonly empty: string;
    }
  | { readonly kind: "lines"; readonly title: string; readonly lines: readonly Cell[] };

export type View = readonly Element[];

export function columnTitle(column: string | { readonly keep: string }): string {
  return typeof column === "string" ? column : column.keep;
}

export function cellText(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}

export function toned(text: string, tone: Tone): Cell {
  return { text, tone };
}
