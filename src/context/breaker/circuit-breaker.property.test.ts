import * as fc from "fast-check";
import { expect, test } from "vitest";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { BreakerModel, INITIAL, type ModelState } from "../testing/breaker-model.ts";
import { type BreakerOperation, BreakerOperator } from "../testing/breaker-operations.ts";

const NAME = "search";

type Step = BreakerOperation | { readonly do: "advance"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("failure" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("success" as const, "reset" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("acquire" as const), as: fc.nat({ max: 3 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("settle" as const),
      permit: fc.nat({ max: 3 }),
      verdict: fc.constantFrom("success" as const, "failure" as const, "failure" as const, "cancel" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.nat({ max: 40 }) }) },
);

test("behaves like the model, for any sequence of operations", () => {
  const settings = fc.record({
    failureThreshold: fc.integer({ min: 1, max: 4 }),
    cooldownMs: fc.integer({ min: 1, max: 20 }),
    maxCooldownMs: fc.integer({ min: 20, max: 100 }),
    probeTimeoutMs: fc.integer({ min: 1, max: 20 }),
    capacity: fc.constant(2),
  });
  fc.assert(
    fc.property(settings, fc.array(step, { maxLength: 60 }), (options, steps) => {
      let now = 0;
      const breaker = new CircuitBreaker({ ...options, clock: () => now });
      const operator = new BreakerOperator(breaker, NAME);
      const model = new BreakerModel(options);
      let state: ModelState = INITIAL;
      const same = (operation: BreakerOperation): void => {
        const expected = model.step(state, operation, now);
        state = expected.state;
        expect(operator.perform(operation)).toBe(expected.result);
      };
      // The model's reset is one of a name in use.
      same({ do: "success" });
      for (const one of steps) {
        if (one.do === "advance") now += one.ms;
        else same(one);
        same({ do: "state" });
        same({ do: "failures" });
        same({ do: "isOpen" });
      }
    }),
    { numRuns: 2_000 },
  );
});
