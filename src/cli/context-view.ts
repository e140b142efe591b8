import type { AssembledContext, Gap, ScoredFragment } from "../context/model.ts";
import { contributed, exclusionCounts, foundBy, statusOf } from "./context-data.ts";
import { toned, type Cell, type Element } from "./view.ts";

/** An assembled context for people: what went in and by whom, what was left out and why, what is switched off. */
const SHOWN = 25;

function percent(part: number, whole: number): string {
  return whole === 0 ? "0 %" : `${Math.round((1_000 * part) / whole) / 10} %`;
}

export function number(value: number): string {
  return value.toLocaleString("en-US");
}

export function usedText({ tokens, budget, tokenizer }: AssembledContext): string {
  return `${number(tokens)} of ${number(budget.available)} tokens (${percent(tokens, budget.available)}), counted by ${tokenizer}`;
}

export function strategiesTable(assembled: AssembledContext): Element {
  const total = assembled.strategies.reduce((sum, { tokens }) => sum + tokens, 0);
  return {
    kind: "table",
    title: "Strategies",
    columns: [{ keep: "Strategy" }, "Quality", "Budget", "Found", "Went in", "State"],
    rows: assembled.strategies.map(({ name, quality, tokens }) => [
      name,
      String(quality),
      percent(tokens, total),
      String(foundBy(assembled, name) ?? "-"),
      String(contributed(assembled, name).length),
      stateCell(statusOf(assembled, name)),
    ]),
    empty: "No strategy was selected.",
  };
}

function stateCell(status: string): Cell {
  return status === "ran" ? status : toned(status, "warn");
}

export function fragmentsTable({ fragments }: AssembledContext, verbose: boolean): Element[] {
  const rows = fragments
    .slice(0, SHOWN)
    .map((fragment): Cell[] => [
      fragment.entity,
      number(fragment.tokens),
      fragment.level.replaceAll("_", " "),
      verbose ? fragment.reason : finders(fragment),
    ]);
  const more = fragments.length - rows.length;
  return [
    {
      kind: "table",
      title: `What went in: ${fragments.length} ${fragments.length === 1 ? "fragment" : "fragments"}`,
      columns: ["What", "Tokens", "Depth", verbose ? "Why" : "Found by"],
      rows,
      empty: "",
    },
    ...(more > 0 ? [aside(`and ${more} more; --format json has all of them`)] : []),
  ];
}

function finders({ strategies }: ScoredFragment): string {
  return strategies.join(", ");
}

export function exclusionsTable({ excluded }: AssembledContext): Element {
  return {
    kind: "table",
    title: "Left out",
    columns: [{ keep: "Why" }, "Fragments", "Tokens"],
    rows: exclusionCounts(excluded).map(({ reason, fragments, tokens }) => [reason, String(fragments), number(tokens)]),
    empty: "",
  };
}

/** The first of each kind by name, then how many more. */
export function gapLines(gaps: readonly Gap[]): Element[] {
  if (gaps.length === 0) return [];
  const lines = gaps.slice(0, SHOWN).map(({ name, reason }) => toned(`${name}: ${reason}`, "warn"));
  const more = gaps.length - lines.length;
  return [
    { kind: "lines", title: "Missing", lines: [...lines, ...(more > 0 ? [toned(`and ${more} more`, "dim")] : [])] },
  ];
}

export function traceTable({ trace }: AssembledContext): Element {
  return {
    kind: "table",
    title: "Stages",
    columns: [{ keep: "Stage" }, "Component", "In", "Out", "ms", "Note"],
    rows: trace.map(({ stage, component, in: given, out, durationMs, note }) => [
      stage.replaceAll("_", " "),
      component,
      String(given),
      String(out),
      String(Math.round(durationMs)),
      note ?? "",
    ]),
    empty: "",
  };
}

function aside(text: string): Element {
  return { kind: "lines", title: "", lines: [toned(text, "dim")] };
}
