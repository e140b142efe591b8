/** The dependants of a decision, compared with the simplest way to find them. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { dependantsOf, type Related, type Touch } from "./dependants.ts";
import type { DecisionId } from "../names/ids.ts";

const id = (number: number): DecisionId => `d${number}` as DecisionId;

function overlap(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

/** Looks at every pair again and again until nothing is added, word for word as the rule is written. */
function model(start: DecisionId, decisions: readonly Related[], touches: readonly Touch[]): Set<DecisionId> {
  const found = new Set([start]);
  for (;;) {
    const before = found.size;
    for (const { id: one, parent, needs } of decisions) {
      if (parent !== undefined && found.has(parent)) found.add(one);
      if (needs.some((need) => found.has(need))) found.add(one);
    }
    for (const [index, earlier] of touches.entries()) {
      if (!found.has(earlier.decision)) continue;
      for (const later of touches.slice(index + 1)) {
        const shared =
          later.resource === earlier.resource &&
          later.paths.some((path) => earlier.paths.some((other) => overlap(path, other)));
        if (shared) found.add(later.decision);
      }
    }
    if (found.size === before) return found;
  }
}

/**
 * Up to a dozen decisions, each below an earlier one and with needs among the earlier ones, and changes in any order.
 */
const worlds = fc.integer({ min: 1, max: 12 }).chain((size) =>
  fc.record({
    decisions: fc.tuple(
      ...Array.from({ length: size }, (_, number) =>
        fc.record({
          id: fc.constant(id(number)),
          parent: number === 0 ? fc.constant(undefined) : fc.nat(number - 1).map(id),
          needs: number === 0 ? fc.constant([]) : fc.uniqueArray(fc.nat(number - 1).map(id), { maxLength: 2 }),
        }),
      ),
    ),
    touches: fc.array(
      fc.record({
        decision: fc.nat(size - 1).map(id),
        resource: fc.constantFrom("api", "web"),
        paths: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "d/e", "d/f/g", "d/f"), {
          minLength: 1,
          maxLength: 2,
        }),
      }),
      { maxLength: 16 },
    ),
    start: fc.nat(size - 1).map(id),
  }),
);

test("is what the rule says, for any tree, needs and order of changes", () => {
  fc.assert(
    fc.property(worlds, ({ decisions, touches, start }) => {
      expect(dependantsOf(start, decisions, touches)).toEqual(model(start, decisions, touches));
    }),
    { numRuns: 2_000 },
  );
});

test("each of the ways to hang on it, and nothing else", () => {
  const root = { id: id(0), parent: undefined, needs: [] };
  const below = (number: number, ...needs: number[]): Related => ({
    id: id(number),
    parent: id(0),
    needs: needs.map(id),
  });
  const touch = (number: number, resource: string, ...paths: string[]): Touch => ({
    decision: id(number),
    resource,
    paths,
  });
  const decisions = [root, below(1), below(2, 1), below(3), below(4), below(5), { ...below(6), parent: id(2) }];
  const touches = [
    touch(3, "api", "earlier"),
    touch(1, "api", "a"),
    touch(4, "web", "a"),
    touch(5, "api", "b", "a"),
    touch(1, "api", "earlier"),
  ];
  expect(dependantsOf(id(1), decisions, touches)).toEqual(new Set([1, 2, 5, 6].map(id)));
  expect(dependantsOf(id(3), decisions, touches)).toEqual(new Set([3, 1, 2, 5, 6].map(id)));
  expect(dependantsOf(id(4), decisions, touches)).toEqual(new Set([id(4)]));
  expect(dependantsOf(id(0), decisions, touches).size).toBe(7);
});

test("ten thousand decisions that each hang on the one before are found at once", () => {
  const decisions = Array.from({ length: 10_000 }, (_, number) => ({
    id: id(number),
    parent: undefined,
    needs: number === 0 ? [] : [id(number - 1)],
  }));
  expect(dependantsOf(id(0), decisions, []).size).toBe(10_000);
});
