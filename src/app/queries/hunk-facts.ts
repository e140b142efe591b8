/** The hunks of a plan's diff, with the steps, tools and decisions that made each of them, and the reasons. */
import * as z from "zod";
import type { Decision } from "../../domain/plan/decision.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { countChanged } from "../../domain/text/git-patch.ts";
import { isResolveStep, type PlanChange } from "../../changes/plan-changes.ts";
import type { ReviewFile, ReviewUnit } from "../../changes/review-files.ts";
import { planStepOf } from "../../changes/step-records.ts";
import { unitCredits } from "../../changes/unit-credits.ts";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { findDecisions } from "../../ledger/decisions.ts";
import { findInvocations } from "../../ledger/invocations.ts";
import type { Store } from "../../store/port.ts";

export const CreditFacts = z.strictObject({
  step: z.string(),
  tool: z.string().nullable(),
  decision: z.string().nullable(),
  /** The reason that was given, or what the step was to do. */
  why: z.string().nullable(),
});

export const HunkFacts = z.strictObject({
  resource: z.string(),
  path: z.string(),
  /** Its number in the file, from 1; null for a rename or a change of permissions. */
  hunk: z.int().nullable(),
  kind: z.enum(["lines", "rename", "mode", "whole"]),
  header: z.string(),
  insertions: z.int(),
  deletions: z.int(),
  by: z.array(CreditFacts),
});

type Credit = z.output<typeof CreditFacts>;

/** Who made each unit of each file, by the unit's id. */
export type Credits = (file: ReviewFile, units: readonly ReviewUnit[]) => Promise<Credit[]>;

export async function creditsOf(store: Store, plan: Plan, entries: readonly PlanChange[]): Promise<Credits> {
  const [decisions, invocations] = await store.read(async (reader) => [
    new Map((await findDecisions(reader, plan.id, plan.attempt)).map((one) => [one.id, one])),
    new Map((await findInvocations(reader, plan.id, plan.attempt)).map((one) => [one.changesetId, one])),
  ]);
  const changesets = new ChangesetStore(store);
  const known = new Map<ReviewFile, Awaited<ReturnType<typeof unitCredits>>>();
  return async (file, units) => {
    const credits = known.get(file) ?? (await unitCredits(changesets, entries, file));
    known.set(file, credits);
    const made = new Set(units.flatMap(({ id }) => credits.get(id) ?? []));
    const found = [...made].map((change): Credit => {
      const decision = decisions.get((change.decision ?? "") as DecisionId);
      const tool = invocations.get(change.changesetId)?.tool ?? null;
      return {
        step: isResolveStep(change.step) ? "resolve" : planStepOf(change.step),
        tool,
        decision: decision?.id ?? null,
        why: decision === undefined ? null : reasonOf(decision, decisions),
      };
    });
    return [...new Map(found.map((one) => [JSON.stringify(one), one])).values()];
  };
}

/** Of a call of a model the reason may stand with the step that it is part of. */
function reasonOf(decision: Decision, all: ReadonlyMap<DecisionId, Decision>): string | null {
  for (let one: Decision | undefined = decision; one !== undefined; one = all.get(one.parent ?? ("" as DecisionId))) {
    if (one.thought.rationale !== undefined && one.thought.rationale !== "") return one.thought.rationale;
    const { chosen } = one;
    const description =
      typeof chosen === "object" && chosen !== null && !Array.isArray(chosen) && "description" in chosen
        ? chosen["description"]
        : undefined;
    if (typeof description === "string") return description;
  }
  return null;
}

export async function hunkFacts(files: readonly ReviewFile[], credits: Credits): Promise<z.output<typeof HunkFacts>[]> {
  const facts: z.output<typeof HunkFacts>[] = [];
  for (const file of files) {
    const { resource, path } = file;
    for (const [hunk, units] of Map.groupBy(file.units, (unit) => unit.hunk)) {
      const lines = units.some(({ kind }) => kind === "whole")
        ? file.hunks
        : file.hunks.slice((hunk ?? 0) - 1, hunk ?? 0);
      facts.push({
        resource,
        path,
        hunk: hunk ?? null,
        kind: units[0]?.kind ?? "whole",
        header: lines[0]?.header ?? "",
        ...countChanged(lines),
        by: await credits(file, units),
      });
    }
  }
  return facts;
}
