/** One participant of a race: carries out its orders on its own store handle, in its own thread or process. */
import { setTimeout as sleep } from "node:timers/promises";
import { Lease } from "../ledger/leases.ts";
import { PlanExecutionContext } from "../execution/workspace/plan-execution-context.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { runStep } from "../ledger/steps.ts";
import { subscribeEvents } from "../ledger/event-log.ts";
import type { ChangesetId, PlanId } from "../domain/names/ids.ts";
import type { JsonValue } from "../domain/values/json.ts";
import type { PlanOperation, Phase } from "../domain/plan/transitions.ts";
import type { Store } from "../store/port.ts";
import { ACTION_NAME, actionInput, created, perform } from "./fixtures.ts";
import { outcomeOf, type Outcome } from "./outcome.ts";

/** The data another thread or process needs to act under a lease. */
export interface LeaseToken {
  readonly planId: PlanId;
  readonly phase: Phase;
  readonly epoch: number;
}

export type ActorCommand =
  | { readonly kind: "create-actions"; readonly names: readonly string[]; readonly startAt: number }
  | {
      readonly kind: "move";
      readonly operation: PlanOperation;
      readonly planId: PlanId;
      readonly lease?: LeaseToken | undefined;
      /** How many calls at once. */
      readonly times: number;
      readonly startAt: number;
    }
  | { readonly kind: "make-plans"; readonly count: number; readonly startAt: number }
  | {
      readonly kind: "record";
      readonly changesets: readonly { id: ChangesetId; epoch: number | undefined }[];
      readonly paths: readonly string[];
      readonly startAt: number;
    }
  | { readonly kind: "run-step"; readonly lease: LeaseToken; readonly key: string; readonly result: JsonValue }
  | { readonly kind: "read-events"; readonly after: number; readonly count: number };

export class PlanActor {
  readonly #store: Store;
  readonly #service: PlanLifecycleService;

  constructor(store: Store) {
    this.#store = store;
    this.#service = new PlanLifecycleService({ store });
  }

  async carryOut(command: ActorCommand): Promise<Outcome[]> {
    switch (command.kind) {
      case "create-actions":
        await startLine(command.startAt);
        return all(command.names, async (name) => (await this.#service.createAction(actionInput(name))).name);
      case "move": {
        const { operation, planId, times } = command;
        const lease = command.lease === undefined ? undefined : await this.#adopt(command.lease);
        await startLine(command.startAt);
        return all(Array.from({ length: times }), async () => {
          const result = await perform(this.#service, { operation, planId, lease });
          if (!(result instanceof Lease)) return { version: result.version };
          result.stop();
          return { planId: result.planId, phase: result.phase, epoch: result.epoch } satisfies LeaseToken;
        });
      }
      case "make-plans":
        await startLine(command.startAt);
        return all(
          Array.from({ length: command.count }),
          async () => (await this.#service.useAction({ action: ACTION_NAME })).id,
        );
      case "record": {
        const handles = command.changesets.map(({ id, epoch }) =>
          PlanExecutionContext.attach({ store: this.#store, changesetId: id, epoch }),
        );
        const pairs = handles.flatMap((handle) => command.paths.map((path) => ({ handle, path })));
        await startLine(command.startAt);
        return all(pairs, ({ handle, path }) => handle.record(created(`${handle.id}/${path}`)));
      }
      case "run-step": {
        const lease = await this.#adopt(command.lease);
        let ran = false;
        const step = runStep(lease, command.key, () => {
          ran = true;
          return command.result;
        });
        const outcome = await outcomeOf(step);
        return [outcome.ok ? { ok: true, value: { ran, result: outcome.value } } : outcome];
      }
      case "read-events": {
        const sequences: number[] = [];
        for await (const event of subscribeEvents(this.#store, { after: command.after, pollMs: 5 })) {
          sequences.push(event.sequence);
          if (sequences.length === command.count) break;
        }
        return [{ ok: true, value: sequences }];
      }
    }
  }

  /** The lease another owner took, used from here; it is not renewed. */
  async #adopt(token: LeaseToken): Promise<Lease> {
    const { planId, phase, epoch } = token;
    const plan = await this.#service.getPlan(planId);
    const facts = { planId, phase, epoch, holder: "adopted", expiresAt: 0 };
    const lease = new Lease({ store: this.#store, plan, phase, facts, ttlMs: 30_000 });
    lease.stop();
    return lease;
  }
}

function all<I>(items: readonly I[], call: (item: I) => Promise<unknown>): Promise<Outcome[]> {
  return Promise.all(items.map((item) => outcomeOf(call(item))));
}

/** Everybody begins at the same instant of the wall clock: sleeps until shortly before, then spins. */
async function startLine(startAt: number): Promise<void> {
  await sleep(Math.max(0, startAt - Date.now() - 1));
  let now = Date.now();
  while (now < startAt) now = Date.now();
}
