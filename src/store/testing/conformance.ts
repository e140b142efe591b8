/**
 * The tests that every driver of the store has to pass: call `describeStore` once for each. They know nothing but the
 * `Store` port and portable SQL.
 */
import { describe } from "vitest";
import { describeAtomicity } from "./conformance-atomicity.ts";
import { describeIsolation } from "./conformance-isolation.ts";
import { describeClock, describeClosing, describeCommitNews } from "./conformance-life.ts";
import { describeUnitRules, describeValues } from "./conformance-units.ts";
import { describeContract } from "./contract.ts";
import type { OpenFixture } from "./notes.ts";

/** `missing`: why the driver cannot be tested here, if it cannot. */
export function describeStore(name: string, open: OpenFixture, missing?: string): void {
  describe.skipIf(missing !== undefined)(`a store ${name}${missing === undefined ? "" : `: ${missing}`}`, () => {
    describeAtomicity(open);
    describeIsolation(open);
    describeUnitRules(open);
    describeValues(open);
    describeContract(open);
    describeCommitNews(open);
    describeClosing(open);
    describeClock(open);
  });
}
