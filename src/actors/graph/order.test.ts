import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../testing/random.ts";
import { runGraph } from "./run-graph.ts";
import { edge, graph, input, ports, TestEffects, tool } from "./testing/graphs.ts";

/** Nodes n0 … and edges between them; `back` says whether an edge may lead to a node before its own. */
function graphs(back: boolean): fc.Arbitrary<{ count: number; pairs: (readonly [number, number])[] }> {
  return fc.integer({ min: 2, max: 9 }).chain((count) => {
    const node = fc.nat({ max: count - 1 });
    const pair = fc.tuple(node, node).map(([a, b]) => (back || a < b ? ([a, b] as const) : ([b, a] as const)));
    const pairs = fc.array(back ? pair : pair.filter(([a, b]) => a !== b), { maxLength: 2 * count });
    return fc.record({ count: fc.constant(count), pairs });
  });
}

describe("any graph", () => {
  test("without loops: every node that can be reached runs once, after all that lead to it", async () => {
    const property = fc.asyncProperty(graphs(false), fc.nat(), async ({ count, pairs }, seed) => {
      const nodes = Array.from({ length: count }, (_, index) => tool(`n${index}`));
      // Their order in the file must make no difference to that.
      const shuffled = nodes.toSorted(by(seededRandom(seed)));
      const actor = graph({
        nodes: shuffled,
        edges: pairs.map(([from, to]) => edge(`n${from}`, `n${to}`)),
        entry: "n0",
        exits: nodes.map(({ id }) => id),
      });
      const effects = new TestEffects();
      const { visits } = await runGraph(actor, input(), ports(effects));
      const reached = new Set([0]);
      for (const [from, to] of pairs.toSorted(([a], [b]) => a - b)) if (reached.has(from)) reached.add(to);
      expect(visits).toEqual(Object.fromEntries([...reached].map((index) => [`n${index}`, 1])));
      const roundOf = new Map(effects.called.map(({ key }) => [key.split(".")[1], Number(/\d+/.exec(key)?.[0])]));
      for (const [from, to] of pairs) {
        if (reached.has(from)) expect(roundOf.get(`n${from}`)).toBeLessThan(roundOf.get(`n${to}`) ?? 0);
      }
    });
    await fc.assert(property, { numRuns: 300 });
  });

  test("with loops: a node is always ready, until a limit ends it or nothing is due; twice the same", async () => {
    const property = fc.asyncProperty(graphs(true), async ({ count, pairs }) => {
      const nodes = Array.from({ length: count }, (_, index) => tool(`n${index}`));
      const actor = graph({
        nodes,
        edges: pairs.map(([from, to]) => edge(`n${from}`, `n${to}`)),
        exits: nodes.map(({ id }) => id),
        limits: { maxVisits: 5, maxRounds: 40 },
      });
      const once = async (): Promise<unknown> => {
        const effects = new TestEffects();
        const outcome = await runGraph(actor, input(), ports(effects)).then(
          ({ visits }) => visits,
          (error: unknown) => String(error),
        );
        return [effects.called.map(({ key }) => key), outcome];
      };
      const first = await once();
      expect(JSON.stringify(first)).toMatch(/does not come to an end|"n0":1/);
      expect(await once()).toEqual(first);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});

function by(random: () => number): (one: object, other: object) => number {
  const weights = new Map<object, number>();
  const weight = (one: object): number => weights.get(one) ?? weights.set(one, random()).get(one) ?? 0;
  return (one, other) => weight(one) - weight(other);
}
