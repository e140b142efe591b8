/**
 * Tells a model that the context is a selection: how many pieces of how many files. Notes on how it was made (which
 * strategies found it, which could not contribute, what was left out) are for people, who get them beside the text; a
 * model that reads "Missing: …" looks for something that the question is not about.
 */
import { placeOf } from "../model/compare.ts";
import type { PreambleGenerator } from "../model/stage-interfaces.ts";

export class ProvenancePreambleGenerator implements PreambleGenerator {
  readonly name = "ProvenancePreambleGenerator";

  generate({ fragments, tokens, count }: Parameters<PreambleGenerator["generate"]>[0]): string {
    if (fragments.length === 0) return "";
    const files = new Set(fragments.map(placeOf)).size;
    const text = `# Context: ${plural(fragments.length, "piece")} of ${plural(files, "file")}\n`;
    return count(text) <= tokens ? text : "";
  }
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
