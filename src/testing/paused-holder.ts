/**
 * Run by a test in a process of its own: starts to execute a plan, and is in the middle of a long step when the test
 * stops it. Awake again and told to continue, it tries to write everything an owner can write, and reports the outcome;
 * at last it waits for its lease's signal. Arguments: the store's url, the plan's id, the time its lease lasts.
 */
import { once } from "node:events";
import { openStore } from "../store/sqlite/open-store.ts";
import { PlanExecutionContext } from "../execution/workspace/plan-execution-context.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { runStep } from "../ledger/steps.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { created } from "./fixtures.ts";
import { outcomeOf, type Outcome } from "./outcome.ts";
import { endWithParent, tell } from "./program.ts";

export type HolderLine =
  | { readonly kind: "holding"; readonly epoch: number; readonly changesetId: string }
  | { readonly kind: "late"; readonly what: string; readonly outcome: Outcome }
  | { readonly kind: "aborted" };

const [url = "", planId = "", ttl = ""] = process.argv.slice(2);
const ttlMs = Number(ttl);
endWithParent();
await using store = await openStore(url);
const service = new PlanLifecycleService({ store });
const id = planId as PlanId;
const lease = await service.startExecute(id, { ttlMs, holder: "the paused one" });
const context = new PlanExecutionContext({ store, plan: id, lease });
const changeset = await context.startChangeset();
await changeset.record(created("before"));
await runStep(lease, "before", () => "recorded by the first owner");

const long = runStep(lease, "long", async () => {
  tell({ kind: "holding", epoch: lease.epoch, changesetId: changeset.id } satisfies HolderLine);
  await once(process.stdin.resume(), "end");
  return "recorded too late";
});
await late("end the step", long);
await late(
  "run another step",
  runStep(lease, "another", () => "too late"),
);
await late("record a change", changeset.record(created("late")));
await late("start a changeset", context.startChangeset());
await late("close the changeset", changeset.close());
await late("renew the lease", lease.renew());
await late("fail the phase", service.failExecute(lease, { message: "too late" }));
await late("complete the phase", service.completeExecute(lease));
// The renewal timer does not keep a process alive by itself.
const awake = setInterval(() => undefined, 1_000);
if (!lease.signal.aborted) await once(lease.signal, "abort");
clearInterval(awake);
tell({ kind: "aborted" } satisfies HolderLine);

async function late(what: string, call: Promise<unknown>): Promise<void> {
  const outcome = await outcomeOf(call);
  const told = outcome.ok ? ({ ok: true, value: undefined } as const) : outcome;
  tell({ kind: "late", what, outcome: told } satisfies HolderLine);
}
