/**
 * An assembled context for people: what went in and by whom, what was left out and why, what is switched off. Fits 80
 * columns.
 */
import type { GraphFacts } from "../../app/queries/context-graph.ts";
import type * as z from "zod";
import { thousands } from "../terminal/format.ts";
import { toned, type Cell, type Element } from "../terminal/view.ts";
import type { SeenContext } from "./context-messages.ts";

const SHOWN = 25;
const GRAPH_ROWS = 12;

function percent(part: number, whole: number): string {
  return whole === 0 ? "0 %" : `${Math.round((1_000 * part) / whole) / 10} %`;
}

export function usedText({
  context: { tokens, tokenizer },
  available,
}: Pick<SeenContext, "context" | "available">): string {
  return `${thousands(tokens)} of ${thousands(available)} tokens (${percent(tokens, available)}), counted by ${tokenizer}`;
}

/** Levels as a column shows them. */
function levelText(level: string): string {
  return level === "signatures_with_docs" ? "with docs" : level;
}

/** Where everything is of one resource, its name is left out. */
export function entityNames({ index }: Pick<SeenContext, "index">): (entity: string) => string {
  const [only, another] = index.map(({ resource }) => resource);
  if (only === undefined || another !== undefined) return (entity) => entity;
  return (entity) => (entity.startsWith(`${only}:`) ? entity.slice(only.length + 1) : entity);
}

/** Numbered, because the table of fragments has no room for names. */
export function strategiesTable({ activeStrategies }: SeenContext): Element {
  return {
    kind: "table",
    title: "Strategies",
    columns: [{ keep: "No" }, { keep: "Strategy" }, "Quality", "Budget", "Found", "Went in", "State"],
    rows: activeStrategies.map(({ name, quality, budgetPct, found, fragments, status }, index) => [
      String(index + 1),
      name,
      String(quality),
      percent(budgetPct, 100),
      String(found ?? "-"),
      String(fragments),
      status === "ran" ? status : toned(status, "warn"),
    ]),
    empty: "No strategy was selected.",
  };
}

/** In the order in which a model sees them. `why` shows the reasons instead of the strategies. */
export function fragmentsTable(seen: SeenContext, why: boolean): Element {
  const { fragments } = seen.context;
  const nameOf = entityNames(seen);
  const numbers = new Map(seen.activeStrategies.map(({ name }, index) => [name, String(index + 1)]));
  const rows = fragments
    .slice(0, SHOWN)
    .map((fragment): Cell[] => [
      thousands(fragment.tokens),
      levelText(fragment.depthName),
      nameOf(fragment.entity),
      why ? fragment.reason : fragment.strategies.map((name) => numbers.get(name) ?? name).join(", "),
    ]);
  const some = rows.length < fragments.length ? `the first ${rows.length} of ` : "";
  return {
    kind: "table",
    title: `Included: ${some}${fragments.length} ${fragments.length === 1 ? "fragment" : "fragments"}`,
    columns: [{ keep: "Tokens" }, { keep: "Depth" }, "What", why ? "Why" : "Found by"],
    rows,
    empty: "",
  };
}

export function exclusionsTable({ excluded }: SeenContext): Element {
  const rows = [...Map.groupBy(excluded, ({ reason }) => reason)].map(([reason, all]) => [
    reason,
    String(all.length),
    thousands(all.reduce((sum, { tokens }) => sum + tokens, 0)),
  ]);
  return { kind: "table", title: "Left out", columns: [{ keep: "Why" }, "Fragments", "Tokens"], rows, empty: "" };
}

/** The first by name, then how many more. */
export function gapsElement({ gaps }: SeenContext): Element[] {
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

export function traceTable({ trace }: SeenContext): Element {
  return {
    kind: "table",
    title: "Stages",
    columns: [{ keep: "Stage" }, "Component", "In", "Out", "ms", "Note"],
    rows: trace.map(({ stage, component, in: given, out, durationMs, note }) => [
      stage.replaceAll("_", " "),
      component,
      String(given),
      String(out),
      String(durationMs),
      note ?? "",
    ]),
    empty: "",
  };
}

/** The things that went in first; the rest as far as there is room. */
export function graphTable(graph: z.output<typeof GraphFacts> | null, nameOf: (entity: string) => string): Element[] {
  if (graph === null) return [];
  const edges = graph.edges.toSorted((a, b) => Number(a.depthName === null) - Number(b.depthName === null));
  const rows = edges.slice(0, GRAPH_ROWS).map(({ relation, target, depthName, tokens }): Cell[] => {
    const texts = [
      relation.replaceAll("_", " "),
      nameOf(target),
      depthName === null ? "-" : levelText(depthName),
      depthName === null ? "-" : thousands(tokens),
    ];
    return depthName === null ? texts.map((text) => toned(text, "dim")) : texts;
  });
  const some = rows.length < edges.length ? `: the first ${rows.length} of ${edges.length}` : "";
  return [
    {
      kind: "table",
      title: `Around ${nameOf(graph.root)}${some}`,
      columns: [{ keep: "Relation" }, "What", { keep: "Depth" }, { keep: "Tokens" }],
      rows,
      empty: "",
    },
  ];
}

/** Where the context comes from and how much of the budget it takes. */
export function summaryElement(
  title: string,
  seen: SeenContext & { readonly project: string | null; readonly view: string; readonly budgetSource: string },
): Element {
  const { query, focus, index, project, view, budgetSource } = seen;
  const files = index.reduce((sum, one) => sum + one.files, 0);
  const resources = `${index.length} ${index.length === 1 ? "resource" : "resources"}`;
  return {
    kind: "fields",
    title: `${title} of ${project ?? "this directory"}, view ${view}`,
    rows: [
      ...(query === "" ? [] : [["question", query] as const]),
      ...(focus.length === 0 ? [] : [["focus", focus.join(", ")] as const]),
      ["budget", `${usedText(seen)}; set by ${budgetSource}`],
      ["index", `${thousands(files)} files in ${resources}`],
    ],
  };
}
