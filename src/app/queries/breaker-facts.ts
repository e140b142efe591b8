/** The breakers of strategies: which are switched off because they kept failing. */
import * as z from "zod";
import type { BreakerStatus } from "../../context/breaker/breaker-record.ts";
import { Instant, instant } from "../base/schemas.ts";

export const BreakerFacts = z.strictObject({
  strategy: z.string(),
  project: z.string(),
  state: z.string(),
  failures: z.int(),
  openUntil: Instant.nullable(),
  changedAt: Instant,
});

export function breakerFacts(status: BreakerStatus): z.output<typeof BreakerFacts> {
  const { strategy, project, state, failures, openUntil, changedAt } = status;
  return {
    strategy,
    project,
    state,
    failures,
    openUntil: openUntil === undefined ? null : instant(openUntil),
    changedAt: instant(changedAt),
  };
}
