import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ContextAssembler } from "../assembly/context-assembler.ts";
import type { AssembledContext, ScoredFragment } from "../model/context-model.ts";
import { defaultStages } from "./default-stages.ts";
import type { Stages } from "../model/stage-interfaces.ts";
import { AssemblySetUp, strategy } from "../testing/assembly-set-up.ts";

const strategies = [strategy("signatures"), strategy("definitions")];

let setUp: AssemblySetUp;
let plain: AssembledContext;
beforeAll(async () => {
  setUp = new AssemblySetUp(strategies);
  plain = await assembled({});
});
afterAll(() => setUp[Symbol.asyncDispose]());

function assembled(stages: Partial<Stages>): Promise<AssembledContext> {
  const { executor, tokens: tokenCache } = setUp;
  return new ContextAssembler({ strategies, executor, tokenCache, stages }).assemble(setUp.input(2_000));
}

test("a custom stage takes the place of the default, and the trace says so", async () => {
  const backwards: Stages["order"] = {
    name: "Backwards",
    order: (fragments) => fragments.toSorted((a, b) => a.score - b.score || (a.entity < b.entity ? 1 : -1)),
  };
  const context = await assembled({ order: backwards });
  expect(context.gaps).toEqual([]);
  expect(context.trace.find(({ stage }) => stage === "order")?.component).toBe("Backwards");
  const scores = context.fragments.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => a - b));
});

test("each stage can be a custom one", async () => {
  const own: Partial<Stages> = {
    select: {
      name: "Own",
      select: (known) => ({
        selected: known.map(({ name, quality }) => ({ name, quality, confidence: 0.5 })),
        gaps: [],
      }),
    },
    allocate: {
      name: "Own",
      allocate: (selected, tokens) => selected.map((one, index) => ({ ...one, tokens: index === 0 ? tokens : 0 })),
    },
    deduplicate: { name: "Own", deduplicate: (fragments) => ({ fragments, excluded: [] }) },
    resolve_depth: { name: "Own", resolve: (fragments) => ({ fragments, excluded: [] }) },
    score: { name: "Own", score: (fragments) => fragments.map((one) => ({ ...one, score: 1, breakdown: {} })) },
    pack: { name: "Own", pack: (fragments) => ({ fragments: fragments.slice(0, 1), excluded: [] }) },
    order: { name: "Own", order: (fragments) => fragments },
    preamble: { name: "Own", generate: () => "# Own\n" },
  };
  const context = await assembled(own);
  expect(context.gaps).toEqual([]);
  const components = context.trace.map(({ component }) => component);
  expect(components.filter((name) => name === "Own")).toHaveLength(8);
  expect(context.text.startsWith("# Own\n# shop:")).toBe(true);
  expect(context.fragments).toHaveLength(1);
  expect(plain.fragments.length).toBeGreaterThan(1);
});

test("the fragments of a strategy are vetted once, while others still run", async () => {
  const { executor } = setUp;
  const looks: string[] = [];
  const watched: Stages["execute"] = {
    name: "Watched",
    async execute(selected, input, signal, onFound) {
      const stage = defaultStages(executor, strategies, (name) => name).execute;
      const result = await stage.execute(selected, input, signal, () => undefined);
      const found = result.found.map(({ strategy: name, fragments }) => ({
        strategy: name,
        fragments: fragments.map((fragment, at) => {
          const { level } = fragment as unknown as { readonly level: string };
          return Object.defineProperty({ ...fragment }, "level", { get: () => (looks.push(`${name} ${at}`), level) });
        }),
      }));
      const [first] = found;
      const count = first?.fragments.length ?? 0;
      // On a busy machine the vetting lets other work go first; all of it happens before this stage ends.
      const looked = (times: number): Promise<void> => vi.waitFor(() => expect(looks).toHaveLength(times), 10_000);
      onFound(first?.strategy ?? "", first?.fragments ?? []);
      await looked(count);
      expect(looks).toEqual(first?.fragments.map((_, at) => `${first.strategy} ${at}`));
      // The claims of a custom stage here must not be believed, nor break anything.
      onFound("gold", [undefined, {}, ...(first?.fragments ?? [])] as never);
      await looked(2 * count);
      looks.length = count;
      return { ...result, found };
    },
  };
  const context = await assembled({ execute: watched });
  expect(context.gaps).toEqual([]);
  expect(context.text).toBe(plain.text);
  expect(new Set(looks).size).toBe(looks.length);
  expect(new Set(looks.map((look) => look.split(" ")[0]))).toEqual(new Set(["signatures", "definitions"]));
});

const boom = (): never => {
  throw new Error("boom");
};

const invented = (like: ScoredFragment): ScoredFragment => ({ ...like, content: "made up\n", entity: "shop:made-up" });

/** Untyped, like a module that a user wrote. */
const broken: Record<string, [Partial<Record<keyof Stages, object>>, string]> = {
  "select that throws": [{ select: { select: boom } }, "failed: boom"],
  "select that returns nothing": [{ select: { select: () => undefined } }, "failed"],
  "select of what is not there": [
    { select: { select: () => ({ selected: [{ name: "gold", confidence: 1, quality: 1 }], gaps: [] }) } },
    'selected "gold", which does not exist',
  ],
  "allocate of too much": [
    { allocate: { allocate: (list: object[]) => list.map((one) => ({ ...one, tokens: 1_000_000 })) } },
    "gave 2000000 tokens of",
  ],
  "allocate of halves": [
    { allocate: { allocate: (list: object[]) => list.map((one) => ({ ...one, tokens: 0.5 })) } },
    "not whole numbers",
  ],
  "execute that rejects": [{ execute: { execute: () => Promise.reject(new Error("boom")) } }, "failed: boom"],
  "execute of others": [
    { execute: { execute: async () => ({ found: [{ strategy: "gold", fragments: [] }], outcomes: [] }) } },
    "that were not selected",
  ],
  "deduplicate that invents": [
    {
      deduplicate: {
        deduplicate: (list: ScoredFragment[]) => ({ fragments: list.map(invented), excluded: [] }),
      },
    },
    "which it was not given",
  ],
  "resolve that doubles": [
    { resolve_depth: { resolve: (list: ScoredFragment[]) => ({ fragments: [...list, ...list], excluded: [] }) } },
    "which it was not given",
  ],
  "score that loses some": [
    { score: { score: (list: ScoredFragment[]) => list.slice(1).map((one) => ({ ...one, score: 1, breakdown: {} })) } },
    "scored",
  ],
  "score of nothing": [
    { score: { score: (list: ScoredFragment[]) => list.map((one) => ({ ...one, score: NaN, breakdown: {} })) } },
    "no score",
  ],
  "score that changes the text": [
    {
      score: {
        score: (list: ScoredFragment[]) => list.map((one) => ({ ...one, content: "x", score: 1, breakdown: {} })),
      },
    },
    "which it was not given",
  ],
  "pack over the budget": [
    { pack: { pack: (list: ScoredFragment[]) => ({ fragments: list, excluded: [] }) } },
    "tokens where",
  ],
  "pack that changes what it was given": [
    {
      pack: {
        pack: (list: { content: string }[]) => {
          for (const one of list) one.content = "changed";
          return { fragments: list, excluded: [] };
        },
      },
    },
    "failed",
  ],
  "order that loses some": [{ order: { order: () => [] } }, "ordered 0 fragments"],
  "order that invents": [{ order: { order: (list: ScoredFragment[]) => list.map(invented) } }, "not given"],
  "order that returns a text": [{ order: { order: () => "text" } }, "ordered"],
  "preamble over its reserve": [{ preamble: { generate: () => `${"word ".repeat(1_000)}\n` } }, "tokens where"],
  "preamble without an end": [{ preamble: { generate: () => "x" } }, "does not end with a line"],
  "preamble that is none": [{ preamble: { generate: () => 7 } }, "returned no text"],
};

describe("a custom stage that breaks its contract is replaced and named", () => {
  test.each(Object.entries(broken))("%s", async (_, [stages, problem]) => {
    const [stage] = Object.keys(stages);
    const context = await assembled(stages as Partial<Stages>);
    expect(context.gaps).toMatchObject([{ kind: "stage", name: stage }]);
    expect(context.gaps[0]?.reason).toContain(problem);
    expect(context.gaps[0]?.reason).toContain("the default was used instead");
    expect(context.trace.find((one) => one.stage === stage)?.note).toBe("in place of the custom stage");
    expect(context.tokens).toBeLessThanOrEqual(2_000);
    expect(context.fragments.map(({ entity }) => entity)).toEqual(plain.fragments.map(({ entity }) => entity));
  });
});
