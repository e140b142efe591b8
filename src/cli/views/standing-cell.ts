/** Where a plan stands, and what it cost, the same in every list. */
import type * as z from "zod";
import type { CostSum } from "../../app/queries/spending.ts";
import type { Standing } from "../../domain/plan/standing.ts";
import { toned, type Cell, type Tone } from "../terminal/view.ts";
import { usd } from "./parts.ts";

const TONES = {
  "not started": "dim",
  working: "strong",
  "waiting for you": "warn",
  stopped: "bad",
  "ready to review": "warn",
  answered: "good",
  applied: "good",
  undone: "dim",
  "not chosen": "dim",
  cancelled: "dim",
} as const satisfies Record<Standing, Tone>;

export function standingCell(standing: Standing): Cell {
  return toned(standing, TONES[standing]);
}

/** "-" where no model was asked, "?" where no price is known. */
export function costText({ calls, spentUsd, assumedUsd, unpricedCalls }: z.output<typeof CostSum>): string {
  if (calls === 0) return "-";
  return calls === unpricedCalls ? "?" : usd(spentUsd + assumedUsd);
}
