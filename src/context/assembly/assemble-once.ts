/** One pass through the nine stages, over one generation of the indexes. */
import { createHash } from "node:crypto";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { openScopedIndex } from "../../code-index/search/open-scoped-index.ts";
import type { IndexGap, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { compareScore, compareText } from "../model/compare.ts";
import type { AssemblyInput } from "./assembly-input.ts";
import type { Backend } from "../../domain/context/context-question.ts";
import type {
  AssembledContext,
  EmbeddingEndpoint,
  Exclusion,
  FoundFragment,
  Gap,
  ScoredFragment,
  SelectedStrategy,
} from "../model/context-model.ts";
import { deepFreeze } from "../../platform/deep-freeze.ts";
import { renderContext } from "../model/render-context.ts";
import { SecretMasking } from "./secret-masking.ts";
import { costOf, packFragments, type PackingState } from "./pack-fragments.ts";
import { Pointers } from "./pointers.ts";
import {
  allocationProblem,
  orderingProblem,
  preambleProblem,
  scoringProblem,
  selectionProblem,
  filteringProblem,
} from "../stages/stage-contracts.ts";
import { StageRunner } from "../stages/stage-runner.ts";
import { failureOf } from "../stages/strategy-execution.ts";
import type { ContextStrategy, Stages, StrategyExecutor } from "../model/stage-interfaces.ts";
import type { StrategyOutcome } from "../executor/strategy-task.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import { cooperativeMap } from "../../platform/cooperative-map.ts";
import { withinLimits } from "./view-limits.ts";
import { Vetting } from "./fragment-vetting.ts";
import { wholeFiles } from "./whole-files.ts";

/** The preamble may take a twentieth of the budget, and never more than this. */
const PREAMBLE_SHARE = 0.05;
const MAX_PREAMBLE = 40;
/** The parts of a context of pointers that its list of files and its signatures may take. */
const FOR_FILES = 0.15;
const FOR_SIGNATURES = 0.1;
/** The best bodies that together take this part of the room are shown for certain. */
const SURELY_SHOWN = 0.6;
/** Several strategies find the same fragments, so together they may look for several times the tokens that fit. */
const SEARCH_FACTOR = 4;

export interface AssemblyPass {
  readonly input: AssemblyInput;
  readonly scope: IndexScope;
  readonly embedding?: EmbeddingEndpoint | undefined;
  readonly strategies: readonly ContextStrategy[];
  readonly backends: ReadonlySet<Backend>;
  readonly defaults: Stages;
  readonly custom: Partial<Stages>;
  readonly counter: TokenCounter;
  /** Called with the outcomes of the strategies; throws to end this pass. */
  readonly onOutcomes: (outcomes: readonly StrategyOutcome[]) => void;
}

/** @throws IndexMovedError if a tree has changed since the scope was made. */
export async function assembleOnce(pass: AssemblyPass): Promise<AssembledContext> {
  const { input, counter } = pass;
  const { available } = input.budget;
  const preambleTokens = Math.min(MAX_PREAMBLE, Math.floor(available * PREAMBLE_SHARE));
  const packable = available - preambleTokens;
  const stages = new StageRunner(pass.defaults, pass.custom);
  const count = (text: string): number => counter.count(text);
  const masking = new SecretMasking();
  const excluded: Exclusion[] = [];
  using opened = new LazyIndex(pass.scope);
  const work: PassState = { input, stages, packable, count, cost: costOf(count), masking, opened, excluded };

  const { strategies, outcomes, found, gaps, isWhole } = await findFragments(pass, work);
  const ranked = await rankFragments(found, strategies, work);
  const isPointing = input.question.rendering === "pointers" && !isWhole;
  const { pointers, packed } = isPointing
    ? await packPointers(ranked, work)
    : { pointers: "", packed: await packFragments(ranked, work) };

  const ordered = await stages.run({
    stage: "order",
    in: packed.length,
    out: ({ length }) => length,
    run: (component) => component.order(packed),
    problem: (result) => orderingProblem(result, packed),
  });

  const introduction = await stages.run({
    stage: "preamble",
    in: ordered.length,
    out: (text) => count(text),
    run: (component) =>
      component.generate({
        fragments: ordered,
        strategies,
        gaps: [...gaps, ...stages.gaps],
        excluded,
        tokens: preambleTokens,
        count,
      }),
    problem: (text) => preambleProblem(text, preambleTokens, count),
  });

  const shown = fitted(introduction + pointers, ordered, available, count, excluded);
  return {
    ...shown,
    masked: masking.placesAmong(shown.fragments),
    tokenizer: counter.tokenizer,
    budget: input.budget,
    excluded,
    strategies,
    outcomes,
    gaps: [...gaps, ...stages.gaps],
    trace: stages.trace,
  };
}

/** A context of pointers: the text before its bodies, and these. */
async function packPointers(
  ranked: readonly ScoredFragment[],
  work: PassState,
): Promise<{ readonly pointers: string; readonly packed: readonly ScoredFragment[] }> {
  const { input, opened, packable, count, cost } = work;
  const pointers = new Pointers({ question: input.question, ranked, index: opened.index, count });
  const files = pointers.files(Math.floor(packable * FOR_FILES));
  const room = packable - count(files);
  const bodies = ranked.filter(({ level }) => level === "full");
  const first = firstWithin(bodies, room * SURELY_SHOWN, cost);
  const signatures = pointers.signatures(Math.floor(packable * FOR_SIGNATURES), first);
  const packed = await packFragments(bodies, { ...work, packable: room - count(signatures) });
  return { pointers: files + signatures, packed };
}

/** The best of them, as many as these tokens are enough for. */
function firstWithin(
  fragments: readonly ScoredFragment[],
  tokens: number,
  cost: (fragment: ScoredFragment) => number,
): readonly ScoredFragment[] {
  let left = tokens;
  return fragments.toSorted(compareScore).filter((fragment) => (left -= cost(fragment)) >= 0);
}

/** The state that the stages of one pass share. */
interface PassState extends PackingState {
  readonly input: AssemblyInput;
  readonly opened: LazyIndex;
}

/**
 * Stages 4 to 6, and the limits of the view. Fragments are frozen before each stage: custom stages receive them, and a
 * changed fragment could not be distinguished from the original.
 */
async function rankFragments(
  found: readonly FoundFragment[],
  strategies: readonly SelectedStrategy[],
  { input, stages, packable, count, excluded }: PassState,
): Promise<readonly ScoredFragment[]> {
  const distinct = await stages.run({
    stage: "deduplicate",
    in: found.length,
    out: ({ fragments }) => fragments.length,
    run: (component) => component.deduplicate(found),
    problem: (result) => filteringProblem(result, found),
  });
  excluded.push(...distinct.excluded);
  const counted = await recount(distinct.fragments, found, count);

  const resolved = await stages.run({
    stage: "resolve_depth",
    in: counted.length,
    out: ({ fragments }) => fragments.length,
    run: (component) => component.resolve(counted, packable),
    problem: (result) => filteringProblem(result, counted),
  });
  excluded.push(...resolved.excluded);
  const detailed = resolved.fragments.map(deepFreeze);

  const scored = await stages.run({
    stage: "score",
    in: detailed.length,
    out: ({ length }) => length,
    run: (component) => component.score(detailed, input.question, strategies, input.plan),
    problem: (result) => scoringProblem(result, detailed),
  });
  const limited = withinLimits(scored.map(deepFreeze), input.view);
  excluded.push(...limited.excluded);
  return limited.fragments;
}

/** Opened at the first use: strategies, which open an index of their own, need not wait for it. */
class LazyIndex implements Disposable {
  readonly #scope: IndexScope;
  #index: ScopedIndex | undefined;

  constructor(scope: IndexScope) {
    this.#scope = scope;
  }

  get index(): ScopedIndex {
    return (this.#index ??= openScopedIndex(this.#scope));
  }

  [Symbol.dispose](): void {
    this.#index?.[Symbol.dispose]();
  }
}

interface SearchResult {
  readonly strategies: readonly SelectedStrategy[];
  readonly outcomes: readonly StrategyOutcome[];
  readonly found: readonly FoundFragment[];
  readonly gaps: readonly Gap[];
  /** All files are there, whole. */
  readonly isWhole: boolean;
}

type Executed = Awaited<ReturnType<StrategyExecutor["execute"]>>;

/** Stages 1 to 3, and the vetting of the fragments they found. */
async function findFragments(
  pass: AssemblyPass,
  { stages, packable, masking, opened }: PassState,
): Promise<SearchResult> {
  const { input, counter, embedding } = pass;
  const { question, plan, signal } = input;
  const backends = new Set(pass.backends);
  if (plan !== undefined) backends.add("decisions");
  if (embedding !== undefined) backends.add("vector");

  const { selected, gaps: lacking } = await stages.run({
    stage: "select",
    in: pass.strategies.length,
    out: (result) => result.selected.length,
    run: (component) => component.select(pass.strategies, question, backends, plan),
    problem: (result) =>
      Array.isArray(result.gaps) ? selectionProblem(result.selected, pass.strategies) : "does not say what is missing",
  });

  const searched = packable * Math.min(SEARCH_FACTOR, selected.length);
  const strategies = await stages.run({
    stage: "allocate",
    in: selected.length,
    out: ({ length }) => length,
    run: (component) => component.allocate(selected, searched),
    problem: (result) => allocationProblem(result, selected, searched),
  });

  const vetting = new Vetting({ index: () => opened.index, plan, count: (text) => counter.count(text), masking });
  const executing = executeStrategies(pass, stages, strategies, vetting);
  const [executed] = await Promise.all([executing, Promise.resolve().then(() => opened.index)]);
  signal?.throwIfAborted();
  pass.onOutcomes(executed.outcomes);

  const { found, gaps } = await vetAll(executed, vetting);
  const { index } = opened;
  const whole = wholeFiles({
    question,
    files: index.files(),
    found,
    tokens: packable,
    limits: input.view,
    vetting,
    count: (text) => counter.count(text),
  });
  return {
    strategies,
    outcomes: executed.outcomes,
    found: (whole ?? found).filter(({ provenance }) => provenance !== undefined || question.rendering !== "pointers"),
    isWhole: whole !== undefined,
    gaps: [...lacking, ...gaps, ...indexGaps(index.gaps())],
  };
}

/** Stage 3. A strategy's fragments are vetted as soon as it has found them, while others still search. */
function executeStrategies(
  { input, scope, counter, embedding }: AssemblyPass,
  stages: PassState["stages"],
  strategies: SearchResult["strategies"],
  vetting: Vetting,
): Promise<Executed> {
  const { question, plan, signal } = input;
  return stages.run({
    stage: "execute",
    in: strategies.length,
    out: ({ found }) => found.reduce((sum, { fragments }) => sum + fragments.length, 0),
    run: (component) =>
      component.execute(
        strategies,
        { request: question, scope, plan, tokenizer: counter.tokenizer, embedding },
        signal,
        (strategy, fragments) => vetting.vetAhead(strategy, fragments),
      ),
    problem: ({ found, outcomes }) =>
      Array.isArray(outcomes) && found.every(({ strategy }) => strategies.some(({ name }) => name === strategy))
        ? undefined
        : "returned fragments of strategies that were not selected",
  });
}

/** The fragments that may be shown; a strategy that failed and a fragment that is refused are gaps. */
async function vetAll(executed: Executed, vetting: Vetting): Promise<Pick<SearchResult, "found" | "gaps">> {
  const gaps: Gap[] = [];
  for (const outcome of executed.outcomes) {
    const reason = failureOf(outcome);
    if (reason !== undefined) gaps.push({ kind: "strategy", name: outcome.strategy, reason });
  }
  const found: FoundFragment[] = [];
  for (const { strategy, fragments } of executed.found) {
    const vetted = await vetting.vet(strategy, fragments);
    found.push(...vetted.fragments);
    gaps.push(...vetted.gaps);
  }
  return { found, gaps };
}

/** Fragments that a stage put together are counted again. */
async function recount(
  fragments: readonly FoundFragment[],
  known: readonly FoundFragment[],
  count: (text: string) => number,
): Promise<readonly FoundFragment[]> {
  const counts = new Map(known.map(({ content, tokens }) => [content, tokens]));
  return cooperativeMap(fragments, (fragment) =>
    deepFreeze({ ...fragment, tokens: counts.get(fragment.content) ?? count(fragment.content) }),
  );
}

/**
 * The promise: the text is counted once as it is, and never over the budget. The pass add up (render-context.ts), so
 * nothing is ever dropped here as long as that holds; if it ever does not, the promise is worth more than the last
 * fragment.
 */
function fitted(
  preamble: string,
  ordered: readonly ScoredFragment[],
  available: number,
  count: (text: string) => number,
  excluded: Exclusion[],
): Pick<AssembledContext, "text" | "tokens" | "hash" | "preamble" | "fragments"> {
  let fragments = ordered;
  for (;;) {
    const text = renderContext(preamble, fragments);
    const tokens = count(text);
    const worst = fragments.toSorted(compareScore).at(-1);
    if (tokens <= available || worst === undefined) {
      const hash = createHash("sha256").update(text, "utf8").digest("hex");
      return { text, tokens, hash, preamble, fragments };
    }
    fragments = fragments.filter((fragment) => fragment !== worst);
    const { entity, strategies, tokens: size } = worst;
    excluded.push({ entity, strategies, tokens: size, reason: "budget" });
  }
}

/** One for each resource and reason, however many files it concerns. */
function indexGaps(gaps: readonly IndexGap[]): readonly Gap[] {
  const groups = Map.groupBy(gaps, ({ resource, reason }) => `${resource}\0${reason}`);
  return Array.from(groups.entries())
    .toSorted(([a], [b]) => compareText(a, b))
    .flatMap(([, group]) => {
      const [first] = group.toSorted((a, b) => compareText(a.path, b.path));
      if (first === undefined) return [];
      const others = group.length === 1 ? "" : ` and ${group.length - 1} more`;
      return { kind: "index" as const, name: first.resource, reason: `${first.path}${others}: ${first.reason}` };
    });
}
