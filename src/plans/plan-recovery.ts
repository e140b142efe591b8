import { join } from "node:path";
import { HANDS, type Hands } from "../apply/hands.ts";
import { bootId, finishJournal, findJournal, journalsToAttend, markTidied, type Journal } from "../apply/journal.ts";
import { resumeLanding, repairAfterPowerLoss, tidyUp, writeOut, type Landed } from "../apply/land.ts";
import { directoryPlaces } from "../apply/prepare.ts";
import { lockPlace, withResourceLocks } from "../apply/resource-locks.ts";
import { AgentsError } from "../domain/errors.ts";
import type { PlanId } from "../domain/ids.ts";
import { sealLanding } from "./seal.ts";
import { ambienceOf, type ServiceParts } from "./transition.ts";

/** What was found half done, and what became of it. */
export interface Recovered {
  readonly planId: PlanId;
  readonly kind: Journal["kind"];
  /**
   * "busy": its owner is alive, or stopped, and is not overtaken. "blocked": it has no owner any more, but something is in the way of
   * whoever wants to finish it; the next command tries again.
   */
  readonly result: "done" | "undone" | "busy" | "blocked";
  /** What is in the way of one that is blocked, and what helps. */
  readonly obstacle?: string;
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
      const landed = await withResourceLocks(lockDirectory(parts.directory), wanted, recover, {
        patienceMs: 0,
      });
      if (landed === undefined) continue;
      const result = landed.direction === "forward" ? "done" : "undone";
      recovered.push({ planId, kind, result, kept: landed.kept, holder, since });
    } catch (error) {
      const facts = { planId, kind, kept: [], holder, since };
      if (entered) {
        // One resource that cannot be reached must not stand in the way of every other plan.
        recovered.push({ ...facts, result: "blocked", obstacle: obstacleOf(error) });
        continue;
      }
      if (!(error instanceof AgentsError) || error.code !== "resource_busy") throw error;
      places.setBusy(wanted);
      if (journal.outcome === undefined) recovered.push({ ...facts, result: "busy" });
    }
  }
  return recovered;
}

function obstacleOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const help = error instanceof AgentsError && error.next.length > 0 ? ` Next: ${error.next.join(", or ")}.` : "";
  return `${error.message.replace(/\.?$/, ".")}${help}`;
}

export function lockDirectory(directory: string): string {
  return join(directory, "locks");
}

/** Which locks the journals need. Git is asked once for each directory, however many journals speak of it. */
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
  const { store, hands = HANDS } = parts;
  const journal = await store.read((reader) => findJournal(reader, id));
  if (journal === undefined) return undefined;
  if (journal.outcome !== undefined) {
    // Sealed: what helped may still be lying around, and a power loss may have come before the files were on disk.
    const direction = journal.outcome === "done" ? "forward" : "back";
    if (journal.boot !== bootId()) await repairAfterPowerLoss(store, journal, direction, hands);
    tidyUp(journal, hands);
    writeOut(journal, hands);
    await store.transaction((tx) => finishJournal(tx, journal.id));
    return undefined;
  }
  const landed = await resumeLanding(store, journal, hands);
  await sealLanding({ store, ambience: ambienceOf(parts) }, journal, landed);
  const late = tidyUp(journal, hands);
  await store.transaction((tx) => markTidied(tx, journal.id));
  return { ...landed, kept: [...landed.kept, ...late] };
}
