import type { OutputOf } from "../../app/table/operation-table.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned, type Cell, type Element } from "../terminal/view.ts";

type Conflict = OutputOf<"plan.conflicts">["conflicts"][number];

export const show: Show<"plan.conflicts"> = ({ conflicts }) => ({
  view: conflicts.map(conflictElement),
  messages: info(
    conflicts.length === 0
      ? "Nothing is in the way: the plan can be applied."
      : `${count(conflicts.length, "conflict")}. Nothing was changed.`,
  ),
});

function conflictElement(conflict: Conflict): Element {
  const { resource, path, why, lines, kind } = conflict;
  return {
    kind: "lines",
    title: `${path === null ? resource : `${resource}/${path}`} ${why}`,
    lines: kind === "lines" || (lines.length > 0 && kind === "added") ? lines.flatMap(lineBlock) : sideLines(conflict),
  };
}

/** The three sides of one place, each line with its side in front. */
function lineBlock({ line, yours, base, plans }: Conflict["lines"][number]): Cell[] {
  const side = (name: string, all: readonly string[], tone: "good" | "bad" | "dim"): Cell[] =>
    all.length === 0 ? [toned(`${name} (no lines)`, tone)] : all.map((one) => toned(`${name} ${one}`, tone));
  return [
    toned(`line ${line}`, "strong"),
    ...side("base │", base, "dim"),
    ...side("yours│", yours, "bad"),
    ...side("plan │", plans, "good"),
  ];
}

function sideLines({ base, yours, plans }: Conflict): Cell[] {
  const side = (name: string, one: Conflict["base"]): Cell[] => {
    if (one === null) return [];
    const text = one.kind === "missing" ? "no file" : `${one.kind}, ${count(one.bytes, "byte")}, mode ${one.mode}`;
    return [`${name} ${text}`];
  };
  return [...side("base │", base), ...side("yours│", yours), ...side("plan │", plans)];
}
