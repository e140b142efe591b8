/** One pass through the ten stages, over one generation of the indexes. */
import { createHash } from "node:crypto";
import type { IndexScope } from "../code-index/index-scope.ts";
import { openScopedIndex } from "../code-index/open-scoped-index.ts";
import type { IndexGap, ScopedIndex } from "../code-index/scoped-index.ts";
import { compareScore, compareText } from "./compare.ts";
import type { ContextOrder } from "./context-assembler.ts";
import type {
  AssembledContext,
  Backend,
  EmbeddingEndpoint,
  Exclusion,
  FoundFragment,
  Gap,
  ScoredFragment,
  SelectedStrategy,
} from "./model.ts";
import { frozen } from "./frozen.ts";
import { renderContext, renderFragment } from "./render-context.ts";
import { SecretMasking } from "./secret-masking.ts";
import { shallowerFragment } from "./shallower.ts";
import {
  allocationProblem,
  inventionProblem,
  orderingProblem,
  packingProblem,
  preambleProblem,
  scoringProblem,
  selectionProblem,
  siftingProblem,
} from "./stage-contracts.ts";
import { StageRunner } from "./stage-runner.ts";
import { failureOf } from "./stages/strategy-execution.ts";
import type { ContextStrategy, Stages } from "./stages.ts";
import type { StrategyOutcome } from "./strategy-task.ts";
import type { TokenCounter } from "./tokens/token-counter.ts";
import { patiently } from "./turns.ts";
import { withinLimits } from "./view-limits.ts";
import { Vetting } from "./vetting.ts";
import { wholeFiles } from "./whole-files.ts";

/** The preamble may take a twentieth of the budget, and never more than this. */
const PREAMBLE_SHARE = 0.05;
const MAX_PREAMBLE = 300;
/** Several strategies find the same, so together they may look for twice of what there is room for. */
const SEARCH_FACTOR = 2;

export interface AssemblyParts {
  readonly order: ContextOrder;
  readonly scope: IndexScope;
  readonly embedding?: EmbeddingEndpoint | undefined;
  readonly strategies: readonly ContextStrategy[];
  readonly backends: ReadonlySet<Backend>;
  readonly defaults: Stages;
  readonly own: Partial<Stages>;
  readonly counter: TokenCounter;
  /** Called with what became of the strategies; throws to end this pass. */
  readonly onOutcomes: (outcomes: readonly StrategyOutcome[]) => void;
}

/** @throws IndexMovedError if a tree has changed since the scope was made. */
export async function assembleOnce(parts: AssemblyParts): Promise<AssembledContext> {
  const { order, counter } = parts;
  const { request, plan, budget } = order;
  const { available } = budget;
  const preambleTokens = Math.min(MAX_PREAMBLE, Math.floor(available * PREAMBLE_SHARE));
  const packable = available - preambleTokens;
  const stages = new StageRunner(parts.defaults, parts.own);
  const count = (text: string): number => counter.count(text);
  const cost = costOf(count);
  const masking = new SecretMasking();
  using opened = new LateIndex(parts.scope);

  const { strategies, outcomes, found, gaps } = await findFragments(parts, stages, packable, { masking, opened });
  // Frozen before each stage: own stages get to see them, and what they changed could not be told from what they were given.
  const excluded: Exclusion[] = [];

  const distinct = await stages.run({
    stage: "deduplicate",
    in: found.length,
    out: ({ fragments }) => fragments.length,
    run: (component) => component.deduplicate(found),
    problem: (result) => siftingProblem(result, found),
  });
  excluded.push(...distinct.excluded);
  const counted = await recount(distinct.fragments, found, count);

  const resolved = await stages.run({
    stage: "resolve_depth",
    in: counted.length,
    out: ({ fragments }) => fragments.length,
    run: (component) => component.resolve(counted, packable),
    problem: (result) => siftingProblem(result, counted),
  });
  excluded.push(...resolved.excluded);

  const levelled = resolved.fragments.map(frozen);

  const scored = await stages.run({
    stage: "score",
    in: levelled.length,
    out: ({ length }) => length,
    run: (component) => component.score(levelled, request, strategies, plan),
    problem: (result) => scoringProblem(result, levelled),
  });
  const limited = withinLimits(scored.map(frozen), order.view);
  excluded.push(...limited.excluded);
  await patiently(limited.fragments, cost);

  const renderings: ScoredFragment[] = [];
  const packed = await stages.run({
    stage: "pack",
    in: limited.fragments.length,
    out: ({ fragments }) => fragments.length,
    run: (component) =>
      component.pack(limited.fragments, packable, {
        cost,
        shallower: (fragment, level) => {
          const shallower = shallowerFragment(fragment, level, opened.index, { count, masking });
          if (shallower !== undefined) renderings.push(shallower);
          return shallower;
        },
      }),
    problem: (result) => packingProblem(result, [...limited.fragments, ...renderings], packable, cost),
  });
  excluded.push(...packed.excluded);

  const ordered = await stages.run({
    stage: "order",
    in: packed.fragments.length,
    out: ({ length }) => length,
    run: (component) => component.order(packed.fragments),
    problem: (result) => orderingProblem(result, packed.fragments),
  });

  const preamble = await stages.run({
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

  await stages.run({
    stage: "skeleton",
    in: 0,
    out: ({ length }) => length,
    run: (component) => component.compress(undefined, request.focus, budget.skeletonReserve),
    problem: (inherited) => inventionProblem(inherited, []),
  });

  const shown = fitted(preamble, ordered, available, count, excluded);
  return {
    ...shown,
    masked: masking.placesAmong(shown.fragments),
    tokenizer: counter.tokenizer,
    budget,
    excluded,
    strategies,
    outcomes,
    gaps: [...gaps, ...stages.gaps],
    trace: stages.trace,
  };
}

/** Opened when it is asked for: strategies, which have one of their own, need not wait for it. */
class LateIndex implements Disposable {
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

interface Found {
  readonly strategies: readonly SelectedStrategy[];
  readonly outcomes: readonly StrategyOutcome[];
  readonly found: readonly FoundFragment[];
  readonly gaps: readonly Gap[];
}

/** Stages 1 to 3, and a look at what they brought. */
async function findFragments(
  parts: AssemblyParts,
  stages: StageRunner,
  packable: number,
  { masking, opened }: { readonly masking: SecretMasking; readonly opened: LateIndex },
): Promise<Found> {
  const { order, scope, counter, embedding } = parts;
  const { request, plan, signal } = order;
  const backends = new Set(parts.backends);
  if (plan !== undefined) backends.add("decisions");
  if (embedding !== undefined) backends.add("vector");

  const { selected, gaps: lacking } = await stages.run({
    stage: "select",
    in: parts.strategies.length,
    out: (result) => result.selected.length,
    run: (component) => component.select(parts.strategies, request, backends, plan),
    problem: (result) =>
      Array.isArray(result.gaps) ? selectionProblem(result.selected, parts.strategies) : "does not say what is missing",
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
  const executing = stages.run({
    stage: "execute",
    in: strategies.length,
    out: ({ found }) => found.reduce((sum, { fragments }) => sum + fragments.length, 0),
    run: (component) =>
      component.execute(
        strategies,
        { request, scope, plan, tokenizer: counter.tokenizer, embedding },
        signal,
        (strategy, fragments) => vetting.lookAhead(strategy, fragments),
      ),
    problem: ({ found, outcomes }) =>
      Array.isArray(outcomes) && found.every(({ strategy }) => strategies.some(({ name }) => name === strategy))
        ? undefined
        : "returned fragments of strategies that were not selected",
  });
  const [executed] = await Promise.all([executing, Promise.resolve().then(() => opened.index)]);
  signal?.throwIfAborted();
  parts.onOutcomes(executed.outcomes);

  const gaps: Gap[] = [...lacking];
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
  const { index } = opened;
  const whole = wholeFiles({
    request,
    files: index.files(),
    found,
    tokens: packable,
    limits: order.view,
    vetting,
    count: (text) => counter.count(text),
  });
  return {
    strategies,
    outcomes: executed.outcomes,
    found: whole ?? found,
    gaps: [...gaps, ...indexGaps(index.gaps())],
  };
}

/** What a stage put together anew is counted anew. */
async function recount(
  fragments: readonly FoundFragment[],
  known: readonly FoundFragment[],
  count: (text: string) => number,
): Promise<readonly FoundFragment[]> {
  const counts = new Map(known.map(({ content, tokens }) => [content, tokens]));
  return patiently(fragments, (fragment) =>
    frozen({ ...fragment, tokens: counts.get(fragment.content) ?? count(fragment.content) }),
  );
}

/** With its heading; each fragment is rendered once. */
function costOf(count: (text: string) => number): (fragment: ScoredFragment) => number {
  const costs = new WeakMap<ScoredFragment, number>();
  return (fragment) => {
    let cost = costs.get(fragment);
    if (cost === undefined) {
      cost = count(renderFragment(fragment));
      costs.set(fragment, cost);
    }
    return cost;
  };
}

/**
 * The promise: the text is counted once as it is, and never over the budget. The parts add up (render-context.ts), so nothing is ever dropped here
 * as long as that holds; if it ever should not, the promise is worth more than the last fragment.
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
