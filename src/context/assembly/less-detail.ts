import type { DetailLevel } from "../../domain/context/detail-level.ts";
import type { Excerpt, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { deepFreeze } from "../../platform/deep-freeze.ts";
import type { ContextFragment, ScoredFragment } from "../model/context-model.ts";
import type { SecretMasking } from "./secret-masking.ts";

/** Of a range of lines. */
const MOST_SIGNATURES = 5;

/**
 * The same entity with less detail, from the index. Of a range of lines there are the signatures of the definitions
 * that begin in it; a decision has no other level.
 *
 * @returns undefined also when the index does not have it: the packer then leaves the fragment out.
 */
export function lessDetailedFragment(
  fragment: ScoredFragment,
  level: DetailLevel,
  index: ScopedIndex,
  { count, masking }: { readonly count: (text: string) => number; readonly masking: SecretMasking },
): ScoredFragment | undefined {
  const excerpt = excerptOf(fragment, level, index) ?? signaturesInRange(fragment, level, index);
  if (excerpt === undefined || fragment.provenance === undefined || excerpt.text.trim() === "") return undefined;
  const { startLine, endLine, text } = excerpt;
  const provenance = { ...fragment.provenance, startLine, endLine };
  const rendering = { ...fragment, level, content: text.toWellFormed(), provenance };
  const content = masking.shown(rendering, () =>
    index.mayHoldLongSecret(excerpt.file) ? index.text(excerpt.file) : undefined,
  );
  return deepFreeze({ ...rendering, content, tokens: count(content) });
}

function signaturesInRange(
  { entity, provenance }: ContextFragment,
  level: DetailLevel,
  index: ScopedIndex,
): Excerpt | undefined {
  if (provenance === undefined || level !== "signatures" || !/:\d+-\d+$/.test(entity)) return undefined;
  const { resource, path, startLine, endLine } = provenance;
  const file = index.file(resource, path);
  if (file === undefined) return undefined;
  const text = index
    .definitionsIn(file)
    .filter((definition) => definition.startLine >= startLine && definition.startLine <= endLine)
    .slice(0, MOST_SIGNATURES)
    .map((definition) => index.excerptOfDefinition(definition, level).text)
    .join("\n");
  return { file, level, startLine, endLine, text };
}

/** The index's excerpt of an entity; undefined for ranges of lines and for entities it does not know. */
export function excerptOf(
  { entity, provenance }: ContextFragment,
  level: DetailLevel,
  index: ScopedIndex,
): Excerpt | undefined {
  if (provenance === undefined) return undefined;
  const file = index.file(provenance.resource, provenance.path);
  if (file === undefined) return undefined;
  const name = `${file.resource}:${file.path}`;
  if (entity === name) return index.excerptOfFile(file, level);
  if (!entity.startsWith(`${name}#`)) return undefined;
  const [, symbol, line] = /^(.*)@(\d+)$/s.exec(entity.slice(name.length + 1)) ?? [];
  const definition = index
    .definitionsIn(file)
    .find((candidate) => candidate.name === symbol && candidate.startLine === Number(line));
  return definition === undefined ? undefined : index.excerptOfDefinition(definition, level);
}
