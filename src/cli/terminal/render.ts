import type { OutputFormat } from "../../domain/settings/settings.ts";
import { visible } from "../../domain/text/text.ts";
import { fit, joined, oneLine, pad, padding, width, wrapped, type Text } from "./terminal-text.ts";
import { cellText, columnTitle, toned, type Cell, type Element, type Tone, type View } from "./view.ts";
import type { Environment } from "../../domain/values/environment.ts";

/**
 * Draws a view as text. `rich` and `table` have frames, `rich` and `color` have colors, `plain` is bare ASCII
 * decoration.
 */
export type HumanFormat = Exclude<OutputFormat, "json" | "yaml">;

export interface Screen {
  readonly format: HumanFormat;
  /** Undefined when the output is not a terminal: then nothing is cut. */
  readonly columns: number | undefined;
}

export interface Terminal {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly environment: Environment;
}

/** The nearest format to the wanted one that the terminal can show: rich → color → plain. */
export function screenFor(wanted: HumanFormat, terminal: Terminal): Screen {
  const { isTTY, environment } = terminal;
  // A terminal that does not know its size says 0.
  const columns = isTTY ? terminal.columns || 80 : undefined;
  const forced = environment["FORCE_COLOR"] !== undefined && environment["FORCE_COLOR"] !== "0";
  const noColor = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb";
  const capable = (isTTY || forced) && !noColor;
  return { format: (wanted === "rich" || wanted === "color") && !capable ? "plain" : wanted, columns };
}

export function render(view: View, screen: Screen): Text[] {
  const several = view.filter(({ kind }) => kind === "table").length > 1;
  return joined(
    view.map((element) => renderElement(element, screen, several)).filter((text) => text !== ""),
    "\n",
  );
}

type Paint = (text: string, tone: Tone) => Text;

export function painter({ format }: Screen): Paint {
  return format === "rich" || format === "color" ? toned : (text) => text;
}

/** `several`: there is more than one table, so that each must say what it is. */
function renderElement(element: Element, screen: Screen, several: boolean): Text {
  switch (element.kind) {
    case "fields":
      if (element.rows.length === 0) return "";
      return framed(element.title, fieldLines(element.rows, screen), screen);
    case "lines":
      if (element.lines.length === 0) return "";
      return framed(
        element.title,
        element.lines.flatMap((line) => paragraph(line, screen)),
        screen,
      );
    case "table":
      if (element.rows.length === 0) return element.empty;
      if (screen.format === "rich" || screen.format === "table") return gridTable(element, screen);
      return several
        ? [painter(screen)(element.title, "strong"), "\n", bareTable(element, screen)]
        : bareTable(element, screen);
  }
}

function fieldLines(rows: readonly (readonly [string, Cell])[], screen: Screen): Text[] {
  const paint = painter(screen);
  const labels = Math.max(...rows.map(([label]) => width(label)));
  const room =
    screen.columns === undefined
      ? undefined
      : Math.max(20, screen.columns - labels - 2 - (frameWidth(screen) || INDENT));
  return rows.flatMap(([label, value]) => {
    const lines = wrap(cellText(value), room, screen);
    return lines.map((line, index) => {
      const head = index === 0 ? paint(pad(`${label}:`, labels + 1), "dim") : " ".repeat(labels + 1);
      return [head, " ", typeof value === "string" ? line : paint(line, value.tone)];
    });
  });
}

/** Without a frame, lines stand this far to the right of their heading. */
const INDENT = 2;

function frameWidth({ format }: Screen): number {
  return format === "rich" || format === "table" ? 4 : 0;
}

/** A box around the lines in rich and table, a heading above them elsewhere. */
function framed(heading: string, lines: readonly Text[], screen: Screen): Text {
  const paint = painter(screen);
  const title = oneLine(heading);
  if (frameWidth(screen) === 0) {
    return joined(
      [paint(title, "strong"), ...lines.map((line) => (width(line) === 0 ? "" : [" ".repeat(INDENT), line]))],
      "\n",
    );
  }
  const inner = Math.max(width(title) + 2, ...lines.map(width));
  // A path that is longer than the line stays in one piece, and a broken frame is worse than none.
  if (screen.columns !== undefined && inner + frameWidth(screen) > screen.columns) {
    return framed(heading, lines, { ...screen, format: screen.format === "rich" ? "color" : "plain" });
  }
  const top = ["╭─ ", paint(title, "strong"), ` ${"─".repeat(inner - width(title) - 1)}╮`];
  const body = lines.map((line) => ["│ ", line, `${padding(line, inner)} │`]);
  return joined([top, ...body, `╰${"─".repeat(inner + 2)}╯`], "\n");
}

type Table = Extract<Element, { kind: "table" }>;

function gridTable(table: Table, screen: Screen): Text {
  const paint = painter(screen);
  const widths = columnWidths(table, screen, 3, 4);
  if (widths === undefined) return rowList(table, screen);
  const rule = (left: string, middle: string, right: string): string =>
    left + widths.map((columns) => "─".repeat(columns + 2)).join(middle) + right;
  const row = (cells: readonly Text[]): Text => ["│ ", ...joined(cells, " │ "), " │"];
  const lines = [
    paint(table.title, "strong"),
    rule("┌", "┬", "┐"),
    row(
      drawCells(
        table.columns.map((column) => toned(columnTitle(column), "strong")),
        widths,
        screen,
      ),
    ),
    rule("├", "┼", "┤"),
    ...table.rows.map((cells) => row(drawCells(cells, widths, screen))),
    rule("└", "┴", "┘"),
  ];
  return joined(lines, "\n");
}

function bareTable(table: Table, screen: Screen): Text {
  const widths = columnWidths(table, screen, 2, 0);
  if (widths === undefined) return rowList(table, screen);
  const headers = table.columns.map((column) => toned(columnTitle(column).toUpperCase(), "dim"));
  const lines = [headers, ...table.rows].map((cells) => trimEnd(joined(drawCells(cells, widths, screen), "  ")));
  return joined(lines, "\n");
}

function trimEnd(parts: readonly Text[]): Text[] {
  const last = parts.findLastIndex((part) => typeof part !== "string" || part.trimEnd() !== "");
  return parts
    .slice(0, last + 1)
    .map((part, index) => (index === last && typeof part === "string" ? part.trimEnd() : part));
}

/** A table that does not fit: each row is a paragraph of its own, where nothing is cut. */
function rowList(table: Table, screen: Screen): Text {
  const titles = table.columns.map(columnTitle);
  const paragraphs = table.rows.map((row) => {
    const lines = fieldLines(
      titles.map((title, index) => [title, row[index] ?? ""] as const),
      screen,
    );
    return joined(
      lines.map((line) => [" ".repeat(INDENT), line]),
      "\n",
    );
  });
  return [painter(screen)(table.title, "strong"), "\n", ...joined(paragraphs, "\n\n")];
}

/**
 * Natural widths; on a terminal the widest columns give way, one by one, until the table fits. Undefined when all are
 * at 8 and it does not.
 */
function columnWidths(table: Table, screen: Screen, gap: number, border: number): number[] | undefined {
  const widths = table.columns.map((column, index) =>
    Math.max(width(columnTitle(column)), ...table.rows.map((row) => width(oneLine(cellText(row[index] ?? ""))))),
  );
  if (screen.columns === undefined) return widths;
  let excess = widths.reduce((sum, columns) => sum + columns, 0) + gap * (widths.length - 1) + border - screen.columns;
  for (; excess > 0; excess -= 1) {
    const shrinkable = widths.map((columns, index) => (typeof table.columns[index] === "string" ? columns : 0));
    const widest = Math.max(...shrinkable);
    if (widest <= 8) return undefined;
    widths[shrinkable.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function drawCells(cells: readonly Cell[], widths: readonly number[], screen: Screen): Text[] {
  return cells.map((cell, index) => drawCell(cell, widths[index] ?? 0, screen));
}

function drawCell(cell: Cell, columns: number, screen: Screen): Text {
  const text = pad(fit(cellText(cell), columns), columns);
  return typeof cell === "string" ? text : painter(screen)(text, cell.tone);
}

/** On a terminal, a line that is too long continues below, as far to the right as it began. */
function paragraph(cell: Cell, screen: Screen): Text[] {
  const room = screen.columns === undefined ? undefined : screen.columns - (frameWidth(screen) || INDENT);
  const lines = wrap(cellText(cell), room, screen);
  return lines.map((line) => (typeof cell === "string" ? line : painter(screen)(line, cell.tone)));
}

/** Broken at spaces: a path stays fit to be copied. In a frame, a tab would take more columns than can be told. */
function wrap(text: string, columns: number | undefined, screen: Screen): string[] {
  const shown = frameWidth(screen) === 0 ? visible(text) : visible(text).replaceAll("\t", "    ");
  const lines = shown.split("\n");
  return columns === undefined ? lines : lines.flatMap((line) => wrapped(line, columns));
}
