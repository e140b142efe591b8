import { join } from "node:path";
import { HANDS, type Hands } from "../apply/hands.ts";
import { bootId, findJournal, unfinishedJournals, type Journal } from "../apply/journal.ts";
import { resumeLanding, repairAfterPowerLoss, tidyUp, type Landed } from "../apply/land.ts";
import { withResourceLocks } from "../apply/resource-locks.ts";
import { AgentsError, StoreError } from "../domain/errors.ts";
import type { PlanId } from "../domain/ids.ts";
import { recordedSteps } from "../execution/step-runner.ts";
import { findPlan } from "../store/plans.ts";
import type { Store } from "../store/store.ts";
import { finishLanding, sealLanding } from "./seal.ts";
import { ambienceOf, type ServiceParts } from "./transition.ts";

/** What was found half done, and what became of it. */
export interface Recovered {
  readonly planId: PlanId;
  readonly kind: Journal["kind"];
  /** "busy": its owner is alive, or stopped, and is not overtaken. "stuck": the resources do not let us; it is tried again. */
  readonly result: "done" | "undone" | "busy" | "stuck";
  /** What is in the way, when it is stuck. */
  readonly why?: string;
  readonly kept: readonly string[];
  readonly holder: string;
  readonly since: number;
}

export interface RecoveryParts extends ServiceParts {
  /** The data directory: kernel locks are below it. */
  readonly directory: string;
  readonly hands?: Hands;
}

/**
 * Finishes what a killed apply, undo or redo left behind. Called at the start of every command that opens the store; without anything
 * left behind it costs one indexed query.
 */
export async function recoverLandings(parts: RecoveryParts): Promise<Recovered[]> {
  const { store } = parts;
  const recovered: Recovered[] = [];
  for (const journal of await store.read(unfinishedJournals)) {
    const { planId, kind, holder, createdAt: since } = journal;
    try {
      const landed = await withResourceLocks(
        lockDirectory(parts.directory),
        placesOf(journal),
        () => recoverOne(parts, journal.id),
        { patienceMs: 0 },
      );
      if (landed === undefined) continue;
      const result = landed.direction === "forward" ? "done" : "undone";
      recovered.push({ planId, kind, result, kept: landed.kept, holder, since });
    } catch (error) {
      // A repository that is gone, or a full disk, must not keep every other command from working.
      if (error instanceof StoreError) throw error;
      const busy = error instanceof AgentsError && error.code === "resource_busy";
      const why = error instanceof Error ? error.message : String(error);
      const facts = { planId, kind, kept: [], holder, since };
      if (journal.outcome === undefined || !busy)
        recovered.push({ ...facts, ...(busy ? { result: "busy" } : { result: "stuck", why }) });
    }
  }
  return recovered;
}

export function lockDirectory(directory: string): string {
  return join(directory, "locks");
}

function placesOf({ landings }: Pick<Journal, "landings">): string[] {
  return landings.map(({ root, git }) => git?.commonDirectory ?? root);
}

async function recoverOne(parts: RecoveryParts, id: string): Promise<Landed | undefined> {
  const { store, hands = HANDS } = parts;
  const journal = await store.read((reader) => findJournal(reader, id));
  if (journal === undefined) return undefined;
  if (journal.outcome !== undefined) {
    // Sealed: only what helped is still lying around, or a power loss came before the files were on disk.
    const direction = journal.outcome === "done" ? "forward" : "back";
    if (journal.boot !== bootId()) await repairAfterPowerLoss(store, journal, direction, hands);
    tidyUp(journal, hands);
    await finishLanding(store, journal);
    return undefined;
  }
  const landed = await resumeLanding(store, journal, hands);
  await sealLanding({ store, ambience: ambienceOf(parts), allSteps: await stepsOf(store, journal) }, journal, landed);
  const late = tidyUp(journal, hands);
  await finishLanding(store, journal);
  return { ...landed, kept: [...landed.kept, ...late] };
}

async function stepsOf(store: Store, { planId }: Journal): Promise<ReadonlySet<string>> {
  const plan = await store.read((reader) => findPlan(reader, planId));
  return new Set((await recordedSteps(store, planId, plan?.attempt ?? 0)).keys());
}
