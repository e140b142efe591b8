/**
 * Run by a test in a process of its own, and killed by it at some moment: carries plans through their lives, several at
 * a time, and tells each thing the store acknowledged. Arguments: the store's url, a seed, the time a lease lasts.
 */
import { ConflictError, StaleLeaseError } from "../domain/errors/errors.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { PlanExecutionContext } from "../execution/workspace/plan-execution-context.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { runStep } from "../ledger/steps.ts";
import { statusKey, type Phase } from "../domain/plan/transitions.ts";
import type { Lease } from "../ledger/leases.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { ACTION_NAME, created } from "./fixtures.ts";
import { endWithParent, tell, waitForGo } from "./program.ts";
import { seededRandom } from "./random.ts";
import { completeApply } from "./complete-apply.ts";

export type Acknowledgement =
  | { readonly kind: "transition"; readonly planId: PlanId; readonly version: number; readonly status: string }
  | {
      readonly kind: "step";
      readonly planId: PlanId;
      readonly phase: Phase;
      readonly attempt: number;
      readonly key: string;
      readonly result: string;
    }
  | { readonly kind: "change"; readonly changesetId: string; readonly sequence: number; readonly path: string }
  | { readonly kind: "closed"; readonly changesetId: string };

const LANES = 4;

const [url = "", seed = "", ttl = ""] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const ttlMs = Number(ttl);
endWithParent();
waitForGo();
await using store = await openStore(url);
const service = new PlanLifecycleService({ store });
await Promise.all(Array.from({ length: LANES }, lane));

async function lane(): Promise<void> {
  for (;;) {
    try {
      await life();
    } catch (error) {
      // On a slow machine a lease may lapse although its owner lives: then this plan is left to the process that takes
      // it over.
      if (!(error instanceof StaleLeaseError || error instanceof ConflictError)) throw error;
    }
  }
}

async function life(): Promise<void> {
  const { id } = moved(await service.useAction({ action: ACTION_NAME }));
  const strategize = started(await service.startStrategize(id, { ttlMs }));
  await work(strategize, 1);
  moved(await service.completeStrategize(strategize));
  moved(await service.executePlan(id));
  const execute = started(await service.startExecute(id, { ttlMs }));
  await work(execute, 3);
  if (random() < 0.2) {
    moved(await service.failExecute(execute, { message: "by chance" }));
    moved(await service.revertPlan(id));
    return;
  }
  moved(await service.completeExecute(execute));
  moved(await service.applyPlan(id));
  const apply = started(await service.startApply(id, { ttlMs }));
  moved(await completeApply(apply));
}

async function work(lease: Lease, steps: number): Promise<void> {
  const { planId, phase } = lease;
  const context = new PlanExecutionContext({ store, plan: planId, lease });
  const changeset = await context.startChangeset();
  for (let number = 0; number < steps; number += 1) {
    const key = `step ${number}`;
    const result = await runStep(lease, key, () => `${key} of ${planId}`);
    tell({ kind: "step", planId, phase, attempt: lease.plan.attempt, key, result } satisfies Acknowledgement);
    const { sequence, path } = await changeset.record(created(`${phase}/${number}`));
    tell({ kind: "change", changesetId: changeset.id, sequence, path } satisfies Acknowledgement);
  }
  await changeset.close();
  tell({ kind: "closed", changesetId: changeset.id } satisfies Acknowledgement);
}

function started<L extends Lease>(lease: L): L {
  moved(lease.plan);
  return lease;
}

function moved(plan: Plan): Plan {
  const { id: planId, version } = plan;
  tell({ kind: "transition", planId, version, status: statusKey(plan) } satisfies Acknowledgement);
  return plan;
}
