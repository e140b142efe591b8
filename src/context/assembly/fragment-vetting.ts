/**
 * Checks the fragments of a strategy before they are used. A strategy is code of others: it may return fragments that
 * are malformed, or that the scope does not let through. So a fragment must name a file that the scoped index has, with
 * the very hash, and show the text of that file: in full some of its text, otherwise the index's own excerpt of the
 * entity at that level. A fragment without a file must be a decision of the plan. The rest is dropped and counted. Then
 * secrets are masked, and tokens counted again, regardless of the claims of the strategy.
 */
import { DETAIL_LEVELS, type DetailLevel } from "../../domain/context/detail-level.ts";
import type { IndexedFile, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { compareUse } from "../model/compare.ts";
import { deepFreeze } from "../../platform/deep-freeze.ts";
import type { FoundFragment, Gap, PlanKnowledge, Provenance } from "../model/context-model.ts";
import type { SecretMasking } from "./secret-masking.ts";
import { excerptOf } from "./less-detail.ts";
import { cooperativeMap } from "../../platform/cooperative-map.ts";

const MAX_CONTENT = 1_000_000;
const LEVELS: ReadonlySet<unknown> = new Set(DETAIL_LEVELS);
const MAX_REASON = 300;

export interface VettingParts {
  readonly index: () => ScopedIndex;
  readonly plan: PlanKnowledge | undefined;
  readonly count: (text: string) => number;
  readonly masking: SecretMasking;
}

export interface Vetted {
  readonly fragments: readonly FoundFragment[];
  readonly gaps: readonly Gap[];
}

/** The result for a fragment: fit to be shown, or why not. Blank lines say nothing, which is not a mistake. */
type FragmentVerdict = FoundFragment | "malformed" | "outside" | "blank";

export class Vetting {
  readonly #parts: VettingParts;
  /** By strategy, then by the fragment it returned. */
  readonly #verdicts = new Map<string, WeakMap<object, FragmentVerdict>>();
  readonly #texts = new Map<string, string>();
  readonly #decisions: ReadonlySet<string>;

  constructor(parts: VettingParts) {
    this.#parts = parts;
    this.#decisions = new Set(parts.plan?.decisions.map(({ id }) => `decision:${id}`));
  }

  async vet(strategy: string, fragments: readonly unknown[]): Promise<Vetted> {
    const verdicts = await cooperativeMap(fragments, (value) => this.#verdictOn(value, strategy));
    const malformed = verdicts.filter((verdict) => verdict === "malformed").length;
    const outside = verdicts.filter((verdict) => verdict === "outside").length;
    const complaints = [
      ...(malformed === 0 ? [] : [`returned ${plural(malformed, "malformed fragment")}`]),
      ...(outside === 0 ? [] : [`returned ${plural(outside, "fragment")} from outside the scope`]),
    ];
    const gaps = complaints.map((reason): Gap => ({ kind: "strategy", name: strategy, reason }));
    const kept = verdicts.filter((verdict) => typeof verdict === "object");
    return { fragments: ranked(kept, strategy), gaps };
  }

  /**
   * Does the work of `vet` while other strategies still run. An error here occurs in `vet` too, whose caller receives
   * it.
   */
  vetAhead(strategy: string, fragments: readonly unknown[]): void {
    cooperativeMap(fragments, (value) => this.#verdictOn(value, strategy)).catch(() => undefined);
  }

  /** All of a file of the scope, as it may be shown; undefined when it has only blank lines. */
  whole(
    file: IndexedFile,
    known: Pick<FoundFragment, "relevance" | "reason" | "strategies" | "ranks">,
  ): FoundFragment | undefined {
    const { resource, path, hash, lines } = file;
    const content = this.#textOf(file);
    if (content.trim() === "") return undefined;
    const provenance = { resource, path, startLine: 1, endLine: Math.max(1, lines), hash };
    const entity = `${resource}:${path}`;
    return deepFreeze(this.#shown({ ...known, entity, level: "full", content, tokens: 0, provenance }));
  }

  #verdictOn(value: unknown, strategy: string): FragmentVerdict {
    if (typeof value !== "object" || value === null) return "malformed";
    let verdicts = this.#verdicts.get(strategy);
    if (verdicts === undefined) this.#verdicts.set(strategy, (verdicts = new WeakMap()));
    let verdict = verdicts.get(value);
    if (verdict === undefined) verdicts.set(value, (verdict = this.#judge(value, strategy)));
    return verdict;
  }

  #judge(value: object, strategy: string): FragmentVerdict {
    const fragment = parseFragment(value, strategy);
    if (fragment === undefined) return "malformed";
    if (fragment.content.trim() === "") return "blank";
    return this.#isInScope(fragment) ? this.#shown(fragment) : "outside";
  }

  #isInScope(fragment: FoundFragment): boolean {
    const { entity, provenance, level, content } = fragment;
    if (provenance === undefined) return this.#decisions.has(entity);
    const index = this.#parts.index();
    const file = index.file(provenance.resource, provenance.path);
    if (file === undefined || file.hash !== provenance.hash) return false;
    if (level !== "full") return excerptOf(fragment, level, index)?.text.trimEnd() === content.trimEnd();
    return this.#textOf(file).includes(content.trimEnd());
  }

  #shown(fragment: FoundFragment): FoundFragment {
    const { count, masking } = this.#parts;
    const { resource = "", path = "" } = fragment.provenance ?? {};
    const content = masking.shown(fragment, () => {
      const index = this.#parts.index();
      const file = index.file(resource, path);
      return file !== undefined && index.mayHoldLongSecret(file) ? this.#textOf(file) : undefined;
    });
    return { ...fragment, content, tokens: count(content) };
  }

  #textOf(file: IndexedFile): string {
    const key = `${file.resource}:${file.path}`;
    const text = this.#texts.get(key) ?? this.#parts.index().text(file).toWellFormed();
    this.#texts.set(key, text);
    return text;
  }
}

function parseFragment(value: object, strategy: string): FoundFragment | undefined {
  const { entity, level, relevance, content, reason, provenance } = value as Readonly<Record<string, unknown>>;
  if (typeof entity !== "string" || entity === "" || !isLevel(level)) return undefined;
  if (typeof relevance !== "number" || Number.isNaN(relevance)) return undefined;
  if (typeof content !== "string" || content.length > MAX_CONTENT) return undefined;
  const from = provenance === undefined ? undefined : parseProvenance(provenance);
  if (from === undefined && provenance !== undefined) return undefined;
  if (from !== undefined && !isEntityOf(entity, from)) return undefined;
  return {
    entity,
    level,
    relevance: Math.min(1, Math.max(0, relevance)),
    // Half a surrogate pair has no bytes of its own; its tokens would be counted wrongly.
    content: content.toWellFormed(),
    tokens: 0,
    provenance: from,
    reason: typeof reason === "string" ? reason.slice(0, MAX_REASON).toWellFormed() : "",
    strategies: [strategy],
    ranks: {},
  };
}

/** Adds the rank that its strategy gave each fragment. */
function ranked(fragments: readonly FoundFragment[], strategy: string): readonly FoundFragment[] {
  return fragments
    .toSorted(compareUse)
    .map((fragment, rank) => deepFreeze({ ...fragment, ranks: { [strategy]: rank } }));
}

function parseProvenance(value: unknown): Provenance | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { resource, path, startLine, endLine, hash } = value as Readonly<Record<string, unknown>>;
  if (typeof resource !== "string" || typeof path !== "string" || typeof hash !== "string") return undefined;
  if (!isLine(startLine) || !isLine(endLine) || endLine < startLine) return undefined;
  return { resource, path, startLine, endLine, hash };
}

/** "alias:path", or that with "#name@line" or ":10-42" behind it. */
function isEntityOf(entity: string, { resource, path }: Provenance): boolean {
  const file = `${resource}:${path}`;
  return entity === file || entity.startsWith(`${file}#`) || entity.startsWith(`${file}:`);
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function isLevel(value: unknown): value is DetailLevel {
  return LEVELS.has(value);
}

function isLine(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1;
}
