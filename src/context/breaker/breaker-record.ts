/**
 * The state of circuits in the store: the meaning of a row, how a change is applied to it, and how users list and reset
 * them.
 */
import type { EventType } from "../../domain/plan/events.ts";
import { monotonicIds } from "../../domain/names/ids.ts";
import { appendEvent } from "../../ledger/event-log.ts";
import { type BreakerRow, databaseTime, findBreakers, putBreaker } from "../../store/tables/breakers.ts";
import type { Store, Tx } from "../../store/port.ts";
import type { BreakerSettings } from "./breaker-settings.ts";
import type { BreakerCause } from "./breaker-transitions.ts";
import {
  afterCancel,
  afterFailure,
  afterSuccess,
  type BreakerState,
  CLOSED,
  durationOf,
  failuresOf,
  OPEN,
  pack,
  phaseOf,
  PROBING,
  READY,
  stateOf,
  stepOf,
  withPhase,
} from "./breaker-word.ts";

export interface BreakerStatus {
  readonly strategy: string;
  readonly project: string;
  /** Half-open as soon as the cooldown is over: the next call is the probe. */
  readonly state: BreakerState;
  readonly failures: number;
  /** When it may be tried again; undefined unless it is open. */
  readonly openUntil: number | undefined;
  readonly changedAt: number;
}

const PHASES = { closed: CLOSED, open: OPEN, probing: PROBING, ready: READY } as const;
const newId = monotonicIds();

/** Every circuit that ever failed, by strategy and project. */
export async function listBreakers(store: Store): Promise<readonly BreakerStatus[]> {
  return store.read(async (reader) => {
    const now = await databaseTime(reader);
    return (await findBreakers(reader)).map((row) => statusOf(row, now));
  });
}

/**
 * Closes circuits in any state, in every process within a second. Left out: all strategies, all projects.
 *
 * @returns the circuits that were reset.
 */
export async function resetBreakers(
  store: Store,
  which: { readonly strategy?: string | undefined; readonly project?: string | undefined } = {},
): Promise<readonly BreakerStatus[]> {
  return store.transaction(async (tx) => {
    const now = await databaseTime(tx);
    const reset: BreakerStatus[] = [];
    for (const row of await findBreakers(tx)) {
      if (which.strategy !== undefined && row.strategy !== which.strategy) continue;
      if (which.project !== undefined && row.project !== which.project) continue;
      reset.push(statusOf(await writeRow(tx, row, 0, { now, endsAt: null, event: "breaker.reset" }), now));
    }
    return reset;
  });
}

/** A circuit that has no row yet. */
export function newRow(strategy: string, project: string): BreakerRow {
  const nothing = { failures: 0, step: 0, generation: 0, version: 0, ends_at: null, changed_at: 0 };
  return { strategy, project, phase: "closed", ...nothing };
}

export function lowOf(row: BreakerRow): number {
  return pack(PHASES[row.phase], row.step, row.failures);
}

/** Applies an event of some process to the row; the rules are those of the process's own memory. */
export async function changeRow(
  tx: Tx,
  row: BreakerRow,
  cause: BreakerCause,
  settings: BreakerSettings,
): Promise<BreakerRow> {
  const low = lowOf(row);
  const changed = applyRule(low, cause, settings);
  if (changed === low && cause !== "reset") return row;
  const now = await databaseTime(tx);
  const duration = phaseOf(changed) === phaseOf(low) ? undefined : durationOf(changed, settings);
  const endsAt = duration === undefined ? row.ends_at : duration === 0 ? null : now + duration;
  return writeRow(tx, row, changed, { now, endsAt, event: eventOf(low, changed, cause) });
}

function applyRule(low: number, cause: BreakerCause, settings: BreakerSettings): number {
  switch (cause) {
    case "success":
      return afterSuccess();
    case "failure":
      return afterFailure(low, settings.failureThreshold);
    case "cancel":
      return afterCancel(low);
    case "probe":
      return phaseOf(low) === CLOSED ? low : withPhase(low, PROBING);
    case "reset":
      return 0;
  }
}

async function writeRow(
  tx: Tx,
  row: BreakerRow,
  low: number,
  facts: { readonly now: number; readonly endsAt: number | null; readonly event: EventType | undefined },
): Promise<BreakerRow> {
  const { strategy, project } = row;
  const raised = facts.event === "breaker.reset" || phaseOf(low) !== PHASES[row.phase];
  const written: BreakerRow = {
    strategy,
    project,
    phase: phaseNamed(low),
    failures: failuresOf(low),
    step: stepOf(low),
    generation: raised ? row.generation + 1 : row.generation,
    version: row.version + 1,
    ends_at: facts.endsAt,
    changed_at: facts.now,
  };
  await putBreaker(tx, written);
  if (facts.event !== undefined) {
    const details = {
      strategy,
      project,
      failures: written.failures,
      open_until: written.phase === "open" ? facts.endsAt : null,
    };
    await appendEvent(tx, { id: newId(), type: facts.event, planId: undefined, at: facts.now, details });
  }
  return written;
}

function eventOf(low: number, changed: number, cause: BreakerCause): EventType | undefined {
  if (cause === "reset") return "breaker.reset";
  const to = stateOf(changed);
  if (to === stateOf(low)) return undefined;
  return to === "open" ? "breaker.opened" : to === "closed" ? "breaker.closed" : "breaker.half_opened";
}

function phaseNamed(low: number): BreakerRow["phase"] {
  switch (phaseOf(low)) {
    case CLOSED:
      return "closed";
    case OPEN:
      return "open";
    case PROBING:
      return "probing";
    default:
      return "ready";
  }
}

function statusOf(row: BreakerRow, now: number): BreakerStatus {
  const { strategy, project, failures, changed_at: changedAt, ends_at: endsAt } = row;
  const isWaiting = row.phase === "open" && endsAt !== null && endsAt > now;
  const state = row.phase === "closed" ? "closed" : isWaiting ? "open" : "half-open";
  return { strategy, project, state, failures, openUntil: isWaiting ? endsAt : undefined, changedAt };
}
