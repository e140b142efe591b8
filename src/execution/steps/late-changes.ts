/**
 * The changes of commands that run in the background. They are found by a later call, and belong to the call that
 * started the command: to its decision, under its tool and parameters, in a changeset of their own. That is recorded as
 * a durable step at once, before the call that found them, so the order of the records is the order of the changes.
 */
import type { Order } from "../../changes/step-records.ts";
import type { Lease } from "../../ledger/leases.ts";
import { stepKey } from "../../ledger/records.ts";
import { runStep } from "../../ledger/steps.ts";
import type { ToolRequest } from "../tools/tool-pipeline.ts";
import type { PlanExecutionContext } from "../workspace/plan-execution-context.ts";
import type { LateChanges } from "../workspace/workspace.ts";

interface CallUnderWay {
  readonly by: string;
  readonly order: () => Order;
  /** Undefined for the end of a step, which can find changes and start nothing. */
  readonly request?: Pick<ToolRequest, "tool" | "params" | "decision">;
}

export class RecordedLateChanges implements LateChanges {
  readonly #lease: Lease;
  readonly #context: PlanExecutionContext;
  readonly #underWay = new Map<string, CallUnderWay>();
  readonly #started = new Map<string, NonNullable<CallUnderWay["request"]>>();

  constructor(lease: Lease, context: PlanExecutionContext) {
    this.#lease = lease;
    this.#context = context;
  }

  /** Changes that are found while the call runs take their place in the program before it. */
  async during<T>(call: CallUnderWay, made: () => Promise<T>): Promise<T> {
    this.#underWay.set(call.by, call);
    try {
      return await made();
    } finally {
      this.#underWay.delete(call.by);
    }
  }

  begin(startedBy: string): boolean {
    const request = this.#underWay.get(startedBy)?.request;
    // A step that is a single call ends with it.
    if (request === undefined || !startedBy.includes("/")) return false;
    this.#started.set(startedBy, request);
    return true;
  }

  async recordFor(startedBy: string, foundBy: string, record: () => Promise<void>): Promise<void> {
    const [call, finder] = [this.#started.get(startedBy), this.#underWay.get(foundBy)];
    if (call === undefined || finder === undefined) throw new Error(`${foundBy} cannot record what ${startedBy} did`);
    const begun = performance.now();
    const { tool, params, decision } = call;
    const changeset = await this.#context.startChangeset({ tool, params, decision });
    await this.#context.run(changeset, record);
    await changeset.close({ outcome: "ok", durationMs: performance.now() - begun, resultSize: 0 });
    await runStep(this.#lease, stepKey("tool_call", `${startedBy}~${changeset.id}`), async () => ({
      order: [...finder.order()],
      changeset: changeset.id,
      output: { background: startedBy, found_by: foundBy },
      changed: true,
    }));
  }
}
