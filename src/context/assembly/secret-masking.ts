/**
 * No secret gets into a context: every shown excerpt is masked before its tokens are counted, so that the budget holds
 * for the text as it is shown. The files themselves, and the index, stay as they are.
 */
import { SizedLru } from "../../platform/lru.ts";
import { maskedText, secretsDigest } from "../../platform/masking.ts";
import { placeOf } from "../model/compare.ts";
import type { ContextFragment } from "../model/context-model.ts";

/** The recently masked texts, in characters: after an edit, most of the shown texts are the same as before. */
const REMEMBERED = 4 * 1024 * 1024;
let memory = { digest: "", texts: new SizedLru<string>(REMEMBERED) };

/** The texts that were masked while the same values were known to be secrets. */
function maskedTexts(): SizedLru<string> {
  const digest = secretsDigest();
  if (memory.digest !== digest) memory = { digest, texts: new SizedLru<string>(REMEMBERED) };
  return memory.texts;
}

export class SecretMasking {
  readonly #texts: SizedLru<string> = maskedTexts();
  readonly #places = new Set<string>();

  /**
   * The fragment's content as it may be shown.
   *
   * @param whole the text of its file if a secret of several lines may be in it (`ScopedIndex.mayHoldLongSecret`).
   */
  shown(fragment: ContextFragment, whole: () => string | undefined): string {
    const content = this.#masked(fragment, whole);
    if (content !== fragment.content) this.#places.add(placeOf(fragment));
    return content;
  }

  /** Files with a masked secret, among those of the fragments. */
  placesAmong(fragments: readonly ContextFragment[]): readonly string[] {
    return [...new Set(fragments.map(placeOf).filter((place) => this.#places.has(place)))].sort();
  }

  #masked({ content, provenance, level }: ContextFragment, whole: () => string | undefined): string {
    const text = provenance === undefined || level !== "full" ? undefined : whole();
    if (provenance === undefined || text === undefined) return this.#withoutSecrets(content);
    // Lines keep their numbers when a secret is masked.
    const lines = this.#withoutSecrets(text).split("\n");
    return lines.slice(provenance.startLine - 1, provenance.endLine).join("\n");
  }

  #withoutSecrets(text: string): string {
    return this.#texts.get(text, () => ({ value: maskedText(text), size: text.length }));
  }
}
