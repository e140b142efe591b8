/**
 * Several actors on one plan, in every order a scheduler thinks of, with a clock that any of them may move: what the
 * store answered must be what a small model answers for the order in which the calls took effect.
 */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConflictError, StaleLeaseError } from "../domain/errors/errors.ts";
import { monotonicIds, type IdGenerator, type PlanId } from "../domain/names/ids.ts";
import { PlanExecutionContext } from "../execution/workspace/plan-execution-context.ts";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { runStep } from "../ledger/steps.ts";
import { statusKey, type PlanOperation, type StatusKey } from "../domain/plan/transitions.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import { Lease } from "../ledger/leases.ts";
import type { Store } from "../store/port.ts";
import { OPERATIONS } from "../testing/expected-moves.ts";
import { countedBytes, FakeClock } from "../testing/fake-clock.ts";
import { actionInput, created, leasePhase, perform, planAt } from "../testing/fixtures.ts";
import { outcomeOf } from "../testing/outcome.ts";
import { PlanModel, type ModelAction, type Verdict } from "../testing/plan-model.ts";
import { history, planRows, type PlanRows } from "../testing/plan-rows.ts";
import { scheduledStore } from "../testing/scheduled-store.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { sized } from "../testing/size.ts";

const SCHEDULES = sized({ quick: 100, normal: 500, full: 1_000 });
/** Each batch on a store of its own, because looking at a plan's rows takes longer the more plans there are. */
const BATCHES = sized({ normal: 1, full: 20 });
const TTL_MS = 600_000;

type Command =
  /** Look at the plan and do what comes next, as a worker would: check, then act. */
  | { readonly kind: "work" }
  | { readonly kind: "try"; readonly operation: PlanOperation }
  | { readonly kind: "wait"; readonly milliseconds: number }
  | { readonly kind: "renew" }
  | { readonly kind: "release" }
  | { readonly kind: "step" }
  | { readonly kind: "change" };

const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant({ kind: "work" } as const) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("try" as const), operation: fc.constantFrom(...OPERATIONS) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("wait" as const),
        milliseconds: fc.constantFrom(1, TTL_MS / 2, TTL_MS - 1, TTL_MS, TTL_MS + 1),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: "renew" } as const) },
    { weight: 1, arbitrary: fc.constant({ kind: "release" } as const) },
    { weight: 2, arbitrary: fc.constant({ kind: "step" } as const) },
    { weight: 1, arbitrary: fc.constant({ kind: "change" } as const) },
  ),
  { minLength: 1, maxLength: 9 },
);

interface JournalEntry {
  readonly actor: number;
  readonly action: ModelAction;
  readonly at: number;
  readonly verdict: Verdict;
}

/** The state that all actors of a run share. */
interface Stage {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly ids: IdGenerator;
  readonly planId: PlanId;
  readonly model: PlanModel;
  readonly journal: JournalEntry[];
}

/** Where the actors find the plan: the later phases should be reached as often as the first. */
const starts = fc.constantFrom<StatusKey>("strategize/queued", "execute/queued", "execute/complete", "apply/queued");

/** One caller with its own service and store handle, doing one thing after another. */
class Actor {
  readonly leases: Lease[] = [];
  readonly #number: number;
  readonly #stage: Stage;
  readonly #store: Store;
  readonly #service: PlanLifecycleService;
  #doing: ModelAction | undefined;
  #steps = 0;

  constructor(number: number, stage: Stage, scheduler: fc.Scheduler, overlapping: boolean) {
    this.#number = number;
    this.#stage = stage;
    this.#store = scheduledStore(stage.store, scheduler, {
      label: `actor ${number}`,
      overlapping,
      onUnit: (outcome) => this.#note(outcome),
    });
    this.#service = new PlanLifecycleService({
      store: this.#store,
      clock: stage.clock.now,
      ids: stage.ids,
      user: "tester",
    });
  }

  async play(commands: readonly Command[]): Promise<void> {
    for (const command of commands) {
      switch (command.kind) {
        case "work": {
          const operation = this.#next(statusKey(await this.#service.getPlan(this.#stage.planId)));
          if (operation !== undefined) await this.#move(operation);
          break;
        }
        case "try":
          await this.#move(command.operation);
          break;
        case "wait":
          // In a unit of its own, so that time stands still within everybody else's.
          await this.#store.transaction(async () => this.#stage.clock.advance(command.milliseconds));
          break;
        case "renew":
        case "release":
        case "step":
        case "change":
          await this.#underLease(command.kind);
      }
    }
  }

  #next(status: StatusKey): PlanOperation | undefined {
    const mine = this.leases.at(-1);
    switch (status) {
      case "strategize/queued":
        return "startStrategize";
      case "strategize/processing":
        return mine?.phase === "strategize" ? "completeStrategize" : "startStrategize";
      case "strategize/complete":
      case "execute/errored":
        return "executePlan";
      case "execute/queued":
        return "startExecute";
      case "execute/processing":
        return mine?.phase === "execute" ? "completeExecute" : "startExecute";
      case "execute/complete":
      case "apply/errored":
        return "applyPlan";
      case "apply/queued":
        return "startApply";
      case "apply/processing":
        return mine?.phase === "apply" ? "completeApply" : "startApply";
      case "strategize/errored":
      case "apply/constrained":
        return "revertPlan";
      case "apply/applied":
      case "strategize/cancelled":
      case "execute/cancelled":
      case "apply/cancelled":
        return undefined;
    }
  }

  async #move(operation: PlanOperation): Promise<void> {
    const phase = leasePhase(operation);
    const lease = phase === undefined ? undefined : this.leases.findLast((known) => known.phase === phase);
    // An actor that never held a lease cannot even ask for an operation of a lease holder.
    if (phase !== undefined && lease === undefined && operation !== "constrainApply") return;
    const known = lease && { phase: lease.phase, epoch: lease.epoch };
    await this.#do({ kind: "move", operation, lease: known }, async () => {
      const result = await perform(this.#service, { operation, planId: this.#stage.planId, lease, ttlMs: TTL_MS });
      if (result instanceof Lease) this.leases.push(result);
    });
  }

  async #underLease(kind: "renew" | "release" | "step" | "change"): Promise<void> {
    const lease = this.leases.at(-1);
    if (lease === undefined) return;
    const known = { phase: lease.phase, epoch: lease.epoch };
    switch (kind) {
      case "renew":
        return this.#do({ kind: "renew", lease: known }, () => lease.renew());
      case "release":
        return this.#do({ kind: "release", lease: known }, () => lease.release());
      case "step": {
        this.#steps += 1;
        const key = `actor ${this.#number} step ${this.#steps}`;
        return this.#do({ kind: "write", lease: known }, () => runStep(lease, key, () => key));
      }
      case "change":
        return this.#do({ kind: "write", lease: known }, async () => {
          const parts = { store: this.#store, plan: this.#stage.planId, lease, ids: this.#stage.ids };
          const changeset = await new PlanExecutionContext(parts).startChangeset();
          await changeset.record(created(`epoch-${lease.epoch}`));
          await changeset.close();
        });
    }
  }

  /** The caller must be told what its unit came to: acknowledged exactly when it took effect. */
  async #do(action: ModelAction, call: () => Promise<unknown>): Promise<void> {
    this.#doing = action;
    const from = this.#stage.journal.length;
    const outcome = await outcomeOf(call());
    this.#doing = undefined;
    const own = this.#stage.journal.slice(from).filter((entry) => entry.actor === this.#number);
    if (!outcome.ok) assert.match(outcome.error.name, /^(ConflictError|StaleLeaseError)$/);
    if (action.kind !== "release")
      assert.equal(
        own.every((entry) => entry.verdict === "ok"),
        outcome.ok,
      );
  }

  #note(outcome: { readonly error: unknown } | undefined): void {
    if (this.#doing === undefined) return;
    const entry = { actor: this.#number, action: this.#doing, at: this.#stage.clock.now(), verdict: verdict(outcome) };
    this.#stage.journal.push(entry);
  }
}

function verdict(outcome: { readonly error: unknown } | undefined): Verdict {
  if (outcome === undefined) return "ok";
  if (outcome.error instanceof StaleLeaseError) return "stale";
  if (outcome.error instanceof ConflictError) return "conflict";
  throw outcome.error;
}

describe.each(Array.from({ length: BATCHES }, (_, batch) => batch + 1))("actors on one plan, batch %i", () => {
  const clock = new FakeClock();
  const ids = monotonicIds(clock.now, countedBytes());
  const reached = new Map<string, number>();
  let temporary: TemporaryStore;
  let service: PlanLifecycleService;

  beforeAll(async () => {
    temporary = await TemporaryStore.open("memory", { clock: clock.now });
    service = new PlanLifecycleService({ store: temporary.store, clock: clock.now, ids });
    await service.createAction(actionInput());
  });
  afterAll(() => temporary[Symbol.asyncDispose]());

  test(`agree with the model in ${SCHEDULES} schedules`, { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(commands, { minLength: 2, maxLength: 4 }),
        fc.boolean(),
        starts,
        async (scheduler, scripts, overlapping, status) => {
          const { id: planId } = await planAt(service, status);
          const { plan, lease } = await planRows(temporary.store, planId);
          const [version, epoch] = [Number(plan[0]?.["version"]), Number(lease[0]?.["epoch"] ?? 0)];
          const model = new PlanModel({ status, version, epoch, ttlMs: TTL_MS });
          const stage: Stage = { store: temporary.store, clock, ids, planId, model, journal: [] };
          const actors = scripts.map((_, number) => new Actor(number, stage, scheduler, overlapping));
          await scheduler.waitFor(Promise.all(actors.map((actor, number) => actor.play(scripts[number] ?? []))));
          for (const lease of actors.flatMap((actor) => actor.leases)) lease.stop();
          await check(stage);
        },
      ),
      { numRuns: SCHEDULES },
    );
    expect((await verifyAudit(temporary.store, { at: clock.now() })).problem).toBeUndefined();
    // The schedules are worth something only if they get far and collide: applied plans, takeovers, refusals of both
    // kinds.
    for (const wanted of ["apply/applied", "takeover", "conflict", "stale"]) {
      expect(reached.get(wanted) ?? 0, wanted).toBeGreaterThan(SCHEDULES / 50);
    }
  });

  async function check(stage: Stage): Promise<void> {
    const { model } = stage;
    const begun = model.version;
    for (const { action, at, verdict } of stage.journal) {
      const takeover =
        action.kind === "move" && action.operation.startsWith("start") && model.status.endsWith("processing");
      const said = model.take(action, at);
      expect({ action, verdict }).toEqual({ action, verdict: said });
      count(said);
      if (takeover && said === "ok") count("takeover");
    }
    count(model.status);
    const rows = await planRows(stage.store, stage.planId);
    expect(rows.plan[0]).toMatchObject({ version: model.version, attempt: model.attempt });
    expect(`${rows.plan[0]?.["phase"]}/${rows.plan[0]?.["state"]}`).toBe(model.status);
    if (model.epoch > 0) expect(rows.lease[0]).toMatchObject({ epoch: model.epoch, expires_at: model.expiresAt });
    checkHistory(stage, rows, begun);
    checkWrites(stage, rows);
  }

  /** Acknowledged transitions, and only those, are the history; its entries are numbered like the versions. */
  function checkHistory(stage: Stage, rows: PlanRows, begun: number): void {
    const moves = stage.journal.filter(({ action, verdict }) => action.kind === "move" && verdict === "ok");
    const entries = history(rows);
    expect(entries.map((entry) => entry.version)).toEqual(entries.map((_, index) => index + 1));
    expect(entries.slice(begun).map((entry) => entry.operation)).toEqual(
      moves.map(({ action }) => (action.kind === "move" ? action.operation : "")),
    );
    expect(rows.events.map((event) => event["type"])).toEqual(entries.map((entry) => entry.type));
    for (const [index, entry] of entries.slice(1).entries()) expect(entry.from).toBe(entries[index]?.status);
    const epochs = entries.flatMap((entry) => entry.epoch ?? []);
    expect(new Set(epochs).size).toBe(epochs.length);
  }

  /** Every step and change that was let through is there, under the epoch it was made with, and nothing else. */
  function checkWrites(stage: Stage, rows: PlanRows): void {
    const written = stage.journal.filter(({ action, verdict }) => action.kind === "write" && verdict === "ok").length;
    const closed = rows.changesets.filter((changeset) => changeset["closed_at"] !== null).length;
    expect(rows.steps.length + rows.changesets.length + rows.changes.length + closed).toBe(written);
  }

  function count(what: string): void {
    reached.set(what, (reached.get(what) ?? 0) + 1);
  }
});
