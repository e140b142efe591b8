import type { DetailLevel } from "../code-index/detail-level.ts";
import type { Excerpt, ScopedIndex } from "../code-index/scoped-index.ts";
import { frozen } from "./frozen.ts";
import type { ContextFragment, ScoredFragment } from "./model.ts";
import type { SecretMasking } from "./secret-masking.ts";

/**
 * The same entity with less detail, from the index. A piece of lines has no other level, nor has a decision.
 *
 * @returns undefined also when the index cannot say: whoever packs then goes without.
 */
export function shallowerFragment(
  fragment: ScoredFragment,
  level: DetailLevel,
  index: ScopedIndex,
  { count, masking }: { readonly count: (text: string) => number; readonly masking: SecretMasking },
): ScoredFragment | undefined {
  const excerpt = excerptOf(fragment, level, index);
  if (excerpt === undefined || fragment.provenance === undefined || excerpt.text.trim() === "") return undefined;
  const { startLine, endLine, text } = excerpt;
  const provenance = { ...fragment.provenance, startLine, endLine };
  const rendering = { ...fragment, level, content: text.toWellFormed(), provenance };
  const content = masking.shown(rendering, () =>
    index.mayHoldLongSecret(excerpt.file) ? index.text(excerpt.file) : undefined,
  );
  return frozen({ ...rendering, content, tokens: count(content) });
}

/** What the index shows of an entity; undefined for pieces of lines and for what it does not know. */
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
