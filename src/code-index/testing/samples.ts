import { readFileSync } from "node:fs";
import { DETAIL_LEVELS } from "../../domain/context/detail-level.ts";
import { type FileFacts, type Language, LANGUAGES } from "../model/facts.ts";
import { renderFile } from "../search/detail-rendering.ts";

/** The languages that have a sample: all that are parsed. */
export const SAMPLED = LANGUAGES.filter((language) => language !== "text");

export function sampleOf(language: Language): string {
  return readFileSync(new URL(`samples/${language}.txt`, import.meta.url), "utf8");
}

/** Facts as a page that can be read and compared. */
export function describeFacts(facts: FileFacts, text: string): string {
  const definitions = facts.definitions.map((definition, ordinal) => {
    const { kind, name, container, exported, startLine, endLine, signature, doc } = definition;
    const inside = container === undefined ? "" : ` in ${container}`;
    const about = doc === undefined ? [] : [`     doc ${JSON.stringify(text.slice(doc.start, doc.end))}`];
    return [
      `${String(ordinal).padStart(3)}  ${kind} ${name}${inside}${exported ? ", exported" : ""}, lines ${startLine}-${endLine}`,
      `     ${JSON.stringify(text.slice(signature.start, signature.end))}`,
      ...about,
    ].join("\n");
  });
  const references = new Map<string, string[]>();
  for (const { name, within, count, line } of facts.references) {
    const place = within === undefined ? "top" : String(within);
    references.set(place, [...(references.get(place) ?? []), `${name}${count === 1 ? "" : `×${count}`}@${line}`]);
  }
  return [
    `incomplete: ${facts.incomplete ?? "no"}`,
    "",
    "== definitions",
    ...definitions,
    "",
    "== references, by the definition they are in",
    ...Array.from(references, ([place, names]) => `${place}: ${names.join(" ")}`),
    "",
    "== imports",
    ...facts.imports.map(({ specifier, line }) => `${specifier}@${line}`),
    ...DETAIL_LEVELS.filter((level) => level !== "full").flatMap((level) => [
      "",
      `== ${level}`,
      renderFile(facts, text, level).text,
    ]),
    "",
  ].join("\n");
}
