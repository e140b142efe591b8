import type { DetailLevel } from "../code-index/detail-level.ts";
import type { AssembledContext, Gap } from "../context/model.ts";
import { contributed, exclusionCounts, foundBy, statusOf } from "./context-data.ts";
import { toned, type Cell, type Element } from "./view.ts";

/** An assembled context for people: what went in and by whom, what was left out and why, what is switched off. Fits 80 columns. */
const SHOWN = 25;

function percent(part: number, whole: number): string {
  return whole === 0 ? "0 %" : `${Math.round((1_000 * part) / whole) / 10} %`;
}

/** 1234567 as "1,234,567"; `toLocaleString` would load the tables of all languages first, which takes as long as a search. */
export function number(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

export function usedText({ tokens, budget, tokenizer }: AssembledContext): string {
  return `${number(tokens)} of ${number(budget.available)} tokens (${percent(tokens, budget.available)}), counted by ${tokenizer}`;
}

/** Levels as a column shows them. */
export function levelText(level: DetailLevel): string {
  return level === "signatures_with_docs" ? "with docs" : level;
}

/** Where everything is of one resource it need not be said each time. */
export function entityNames(resources: readonly string[]): (entity: string) => string {
  const [only, another] = resources;
  if (only === undefined || another !== undefined) return (entity) => entity;
  return (entity) => (entity.startsWith(`${only}:`) ? entity.slice(only.length + 1) : entity);
}

/** Numbered, because the table of what went in has no room for names. */
export function strategiesTable(assembled: AssembledContext): Element {
  const total = assembled.strategies.reduce((sum, { tokens }) => sum + tokens, 0);
  return {
    kind: "table",
    title: "Strategies",
    columns: [{ keep: "No" }, { keep: "Strategy" }, "Quality", "Budget", "Found", "Went in", "State"],
    rows: assembled.strategies.map(({ name, quality, tokens }, index) => [
      String(index + 1),
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

/** In the order in which a model sees them. `why` shows the reasons instead of the strategies. */
export function fragmentsTable(
  { fragments, strategies }: AssembledContext,
  nameOf: (entity: string) => string,
  why: boolean,
): Element {
  const numbers = new Map(strategies.map(({ name }, index) => [name, String(index + 1)]));
  const rows = fragments
    .slice(0, SHOWN)
    .map((fragment): Cell[] => [
      number(fragment.tokens),
      levelText(fragment.level),
      nameOf(fragment.entity),
      why ? fragment.reason : fragment.strategies.map((name) => numbers.get(name) ?? name).join(", "),
    ]);
  const some = rows.length < fragments.length ? `the first ${rows.length} of ` : "";
  const fragment = fragments.length === 1 ? "fragment" : "fragments";
  return {
    kind: "table",
    title: `What goes in: ${some}${fragments.length} ${fragment}`,
    columns: [{ keep: "Tokens" }, { keep: "Depth" }, "What", why ? "Why" : "Found by"],
    rows,
    empty: "",
  };
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

/** The first by name, then how many more. */
export function gapsElement(gaps: readonly Gap[]): Element[] {
  if (gaps.length === 0) return [];
  const rows = gaps.slice(0, SHOWN).map(({ name, reason }) => [name, toned(reason, "warn")] as const);
  const more = gaps.length - rows.length;
  return [
    {
      kind: "fields",
      title: "Missing",
      rows: [...rows, ...(more > 0 ? [["others", toned(`${more} more`, "dim")] as const] : [])],
    },
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
