/**
 * Finishes or reverses the applies, undos and redos that a killed process left half done. Called at the start of every
 * command that opens the store; with nothing left behind it costs one indexed query.
 */
import type { DataDirectory } from "../platform/data-directory.ts";
import type { NextStep } from "../domain/errors/next-step.ts";
import { FILE_EFFECTS, type FileEffects } from "./file-effects.ts";
import { bootId, finishJournal, findJournal, journalsToAttend, markTidied, type Journal } from "../ledger/journal.ts";
import { resumeLanding, repairAfterPowerLoss, tidyUp, writeOut, type Landed } from "./land.ts";
import { directoryPlaces } from "./prepare-landings.ts";
import { lockPlace, withResourceLocks } from "./resource-locks.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { sealLanding } from "./seal.ts";
import { recordSourceOf, type ServiceParts } from "../plans/transition.ts";

/** A landing that was found half done, and its outcome. */
export interface Recovered {
  readonly planId: PlanId;
  readonly kind: Journal["kind"];
  /**
   * "busy": its owner is running, or stopped, and is not overtaken. "blocked": its owner is dead, but something is in
   * the way of finishing it; the next command tries again.
   */
  readonly result: "done" | "undone" | "busy" | "blocked";
  /** Of one that is blocked: the obstacle and what helps. */
  readonly obstacle?: string;
  readonly next?: readonly NextStep[];
  readonly kept: readonly string[];
  readonly holder: string;
  readonly since: number;
}

export interface RecoveryParts extends ServiceParts {
  readonly data: DataDirectory;
  readonly effects?: FileEffects;
}

export async function recoverLandings(parts: RecoveryParts): Promise<Recovered[]> {
  const { store } = parts;
  const recovered: Recovered[] = [];
  const places = new LockPlaces();
  for (const id of await store.read(journalsToAttend)) {
    const journal = await store.read((reader) => findJournal(reader, id));
    if (journal === undefined) continue;
    const { planId, kind, holder, createdAt: since } = journal;
    const wanted = await places.of(journal);
    // A plan that works in place leaves a journal for each of its steps, and holds its resources until it ends.
    if (journal.outcome !== undefined && places.isBusy(wanted)) continue;
    let entered = false;
    const recover = (): Promise<Landed | undefined> => {
      entered = true;
      return recoverOne(parts, journal.id);
    };
    try {
      const landed = await withResourceLocks(parts.data.locks, wanted, recover, {
        patienceMs: 0,
      });
      if (landed === undefined) continue;
      const result = landed.direction === "forward" ? "done" : "undone";
      recovered.push({ planId, kind, result, kept: landed.kept, holder, since });
    } catch (error) {
      const facts = { planId, kind, kept: [], holder, since };
      if (entered) {
        // One resource that cannot be reached must not block every other plan.
        recovered.push({ ...facts, result: "blocked", ...obstacleOf(error) });
        continue;
      }
      if (!(error instanceof AgentsError) || error.code !== "resource_busy") throw error;
      places.setBusy(wanted);
      if (journal.outcome === undefined) recovered.push({ ...facts, result: "busy" });
    }
  }
  return recovered;
}

function obstacleOf(error: unknown): Pick<Recovered, "obstacle" | "next"> {
  if (!(error instanceof Error)) return { obstacle: String(error) };
  const obstacle = error.message.replace(/\.?$/, ".");
  return error instanceof AgentsError ? { obstacle, next: error.next } : { obstacle };
}

/** The locks that the journals need. Git is asked once for each directory, also when many journals name it. */
class LockPlaces {
  readonly #directories = new Map<string, Promise<string[]>>();
  readonly #busy = new Set<string>();

  async of({ landings }: Pick<Journal, "landings">): Promise<string[]> {
    const places = landings.map(async ({ root, git }) => {
      if (git !== undefined) return [await lockPlace(git.commonDirectory)];
      const known = this.#directories.get(root) ?? directoryPlaces(root);
      this.#directories.set(root, known);
      return known;
    });
    return (await Promise.all(places)).flat();
  }

  setBusy(places: readonly string[]): void {
    this.#busy.add(places.join("\n"));
  }

  isBusy(places: readonly string[]): boolean {
    return this.#busy.has(places.join("\n"));
  }
}

async function recoverOne(parts: RecoveryParts, id: string): Promise<Landed | undefined> {
  const { store, effects = FILE_EFFECTS } = parts;
  const journal = await store.read((reader) => findJournal(reader, id));
  if (journal === undefined) return undefined;
  if (journal.outcome !== undefined) {
    // Sealed: our own files may still be there, and a power loss may have come before the user's files were on disk.
    const direction = journal.outcome === "done" ? "forward" : "back";
    if (journal.boot !== bootId()) await repairAfterPowerLoss(store, journal, direction, effects);
    tidyUp(journal, effects);
    writeOut(journal, effects);
    await store.transaction((tx) => finishJournal(tx, journal.id));
    return undefined;
  }
  const landed = await resumeLanding(store, journal, effects);
  await sealLanding({ store, recordSource: recordSourceOf(parts) }, journal, landed);
  const late = tidyUp(journal, effects);
  await store.transaction((tx) => markTidied(tx, journal.id));
  return { ...landed, kept: [...landed.kept, ...late] };
}
