/**
 * The contract of each stage with the next one. The defaults keep these by construction; the result of a custom stage
 * is checked, and a problem with it is worded as the end of a sentence that begins with the stage. The arguments of
 * these functions come from code of others: a result of another shape may make them throw, which their caller catches.
 */
import type { FoundFragment, ScoredFragment, SelectedStrategy } from "../model/context-model.ts";
import type { ContextStrategy, RankedStrategy, FilteredFragments } from "../model/stage-interfaces.ts";

type Problem = string | undefined;

export function selectionProblem(selected: readonly RankedStrategy[], strategies: readonly ContextStrategy[]): Problem {
  const known = new Set(strategies.map(({ name }) => name));
  const names = new Set<string>();
  for (const { name, confidence, quality } of selected) {
    if (!known.has(name)) return `selected "${name}", which does not exist`;
    if (names.has(name)) return `selected "${name}" twice`;
    names.add(name);
    if (!isShare(confidence) || !isShare(quality))
      return `gave "${name}" a confidence or quality that is not from 0 to 1`;
  }
  return undefined;
}

export function allocationProblem(
  allocated: readonly SelectedStrategy[],
  selected: readonly RankedStrategy[],
  tokens: number,
): Problem {
  if (allocated.length !== selected.length || selected.some(({ name }, index) => allocated[index]?.name !== name)) {
    return "did not give each selected strategy one part, in their order";
  }
  if (!allocated.every((part) => Number.isSafeInteger(part.tokens) && part.tokens >= 0)) {
    return "gave parts that are not whole numbers of tokens";
  }
  const sum = allocated.reduce((total, part) => total + part.tokens, 0);
  const owed = selected.length === 0 ? 0 : tokens;
  return sum === owed ? undefined : `gave ${sum} tokens of ${owed}`;
}

export function filteringProblem<F extends FoundFragment>(
  result: FilteredFragments<F>,
  fragments: readonly F[],
): Problem {
  if (!Array.isArray(result.excluded)) return "does not say what it left out";
  return inventionProblem(result.fragments, fragments);
}

/** Nothing may come out that did not go in, and nothing twice. */
function inventionProblem(out: readonly FoundFragment[], known: readonly FoundFragment[]): Problem {
  const left = new Set(known.map(identityOf));
  for (const fragment of out) {
    if (!left.delete(identityOf(fragment))) return `returned "${fragment.entity}", which it was not given`;
    if (!isShare(fragment.relevance)) return `gave "${fragment.entity}" a relevance that is not from 0 to 1`;
  }
  return undefined;
}

export function scoringProblem(scored: readonly ScoredFragment[], fragments: readonly FoundFragment[]): Problem {
  if (scored.length !== fragments.length) return `scored ${scored.length} fragments of ${fragments.length}`;
  const unscored = scored.find(({ score, breakdown }) => !Number.isFinite(score) || typeof breakdown !== "object");
  if (unscored !== undefined) return `gave "${unscored.entity}" no score`;
  return inventionProblem(scored, fragments);
}

export function packingProblem(
  result: FilteredFragments<ScoredFragment>,
  known: readonly ScoredFragment[],
  tokens: number,
  cost: (fragment: ScoredFragment) => number,
): Problem {
  const problem = filteringProblem(result, known);
  if (problem !== undefined) return problem;
  const sum = result.fragments.reduce((total, fragment) => total + cost(fragment), 0);
  return sum <= tokens ? undefined : `took ${sum} tokens where ${tokens} were left`;
}

export function orderingProblem(ordered: readonly ScoredFragment[], packed: readonly ScoredFragment[]): Problem {
  if (ordered.length !== packed.length) return `ordered ${ordered.length} fragments of ${packed.length}`;
  return inventionProblem(ordered, packed);
}

export function preambleProblem(preamble: string, tokens: number, count: (text: string) => number): Problem {
  if (typeof preamble !== "string") return "returned no text";
  if (preamble !== "" && !preamble.endsWith("\n")) return "returned text that does not end with a line";
  const used = count(preamble);
  return used <= tokens ? undefined : `took ${used} tokens where ${tokens} were left`;
}

/** Everything that is shown of a fragment, and everything that identifies it. */
function identityOf({ entity, level, content, tokens, provenance, strategies }: FoundFragment): string {
  return JSON.stringify([entity, level, content, tokens, provenance ?? null, strategies]);
}

function isShare(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 1;
}
