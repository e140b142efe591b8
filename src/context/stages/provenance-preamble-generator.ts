/**
 * Tells a model where the context is from and what it lacks: how many pieces of how many files, which strategies found
 * them, which could not contribute and why, how much was left out because it did not fit. Lines are added as long as
 * they fit, the most important first.
 */
import { placeOf } from "../model/compare.ts";
import type { Gap, ScoredFragment, SelectedStrategy } from "../model/context-model.ts";
import { oneLine } from "../model/render-context.ts";
import type { PreambleGenerator } from "../model/stage-interfaces.ts";

const MAX_REASON = 160;

export class ProvenancePreambleGenerator implements PreambleGenerator {
  readonly name = "ProvenancePreambleGenerator";

  generate(parts: Parameters<PreambleGenerator["generate"]>[0]): string {
    const { fragments, gaps, tokens, count } = parts;
    if (fragments.length === 0 && gaps.length === 0) return "";
    let text = "";
    const lines = ["# Context\n", ...linesOf(parts)];
    for (const [index, line] of lines.entries()) {
      const longer = text + line;
      if (count(longer) > tokens) {
        const more = lines.length - index;
        const withRest = index < 2 ? text : `${text}(${more} more ${more === 1 ? "line" : "lines"} left out.)\n`;
        return count(withRest) <= tokens ? withRest : text;
      }
      text = longer;
    }
    return text;
  }
}

function linesOf(parts: Parameters<PreambleGenerator["generate"]>[0]): readonly string[] {
  const { fragments, strategies, gaps, excluded } = parts;
  const files = new Set(fragments.map(placeOf)).size;
  const dropped = excluded.filter(({ reason }) => reason === "budget").length;
  const limited = excluded.filter(({ reason }) => reason === "size limit" || reason === "file limit").length;
  return [
    `${plural(fragments.length, "piece")} of ${plural(files, "file")}.${foundBy(strategies, fragments)}\n`,
    ...gaps.map(gapLine),
    ...leftOut(dropped, "for lack of space"),
    ...leftOut(limited, "because of the limits of this view"),
  ];
}

function foundBy(strategies: readonly SelectedStrategy[], fragments: readonly ScoredFragment[]): string {
  const found = strategies.flatMap(({ name }) => {
    const pieces = fragments.filter((fragment) => fragment.strategies.includes(name)).length;
    return pieces === 0 ? [] : [`${name} (${pieces})`];
  });
  return found.length === 0 ? "" : ` Found by ${found.join(", ")}.`;
}

function gapLine({ name, reason }: Gap): string {
  const said = oneLine(reason);
  return `Missing: ${oneLine(name)}: ${said.length > MAX_REASON ? `${said.slice(0, MAX_REASON).toWellFormed()}…` : said}.\n`;
}

function leftOut(number: number, why: string): readonly string[] {
  return number === 0 ? [] : [`Left out ${why}: ${plural(number, "piece")}.\n`];
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
