/**
 * The tool calls of a plan's steps, each a durable step of its own: asked for again, also by another process after a
 * crash, a recorded call returns its outcome and is not made. In a sandbox a call is recorded after its changes; in
 * place its changes wait until it has ended, and are written and recorded together with it.
 */
import type { Order } from "../../changes/step-records.ts";
import type { ChangesetId } from "../../domain/names/ids.ts";
import type { Instructions, ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { JsonValue } from "../../domain/values/json.ts";
import type { Lease } from "../../ledger/leases.ts";
import { stepKey } from "../../ledger/records.ts";
import { begunBefore } from "../../ledger/invocations.ts";
import { findStepsOfKind, recordedStep, runStep } from "../../ledger/steps.ts";
import { readContents, stageContent, type StagedContent } from "../../store/contents/contents.ts";
import type { Tx } from "../../store/port.ts";
import type { CallOutputs } from "../tools/call-outputs.ts";
import {
  callTool,
  told,
  tryTool,
  type EndCall,
  type ToolEnvironment,
  type ToolRequest,
} from "../tools/tool-pipeline.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import type { LandStep } from "../workspace/pending-changes.ts";
import type { RecordedLateChanges } from "./late-changes.ts";

/** A tool call of a step, by its place in the program. */
export interface KeyedCall extends ToolRequest {
  /** Unique in the plan. */
  readonly key: string;
  /** Called once, when the call is recorded. */
  readonly order: () => Order;
  /** Asked when the call went well: instructions that are recorded and told with its outcome. */
  readonly instructions?: () => Promise<readonly Instructions[]>;
}

export interface RecordedCalls {
  /**
   * Makes the call. When the tool fails, nothing is recorded, and the failure is thrown: a later run makes the call
   * again.
   */
  make(call: KeyedCall): Promise<void>;
  /** Makes the call. A failure of the tool is recorded and returned. */
  attempt(call: KeyedCall): Promise<ToolOutcome>;
}

export function recordedCalls(parts: {
  readonly lease: Lease;
  readonly environment: ToolEnvironment;
  readonly landStep: LandStep | undefined;
  readonly late?: RecordedLateChanges;
}): RecordedCalls {
  const { lease, environment, landStep, late } = parts;
  return landStep === undefined ? callsInSandbox(lease, environment, late) : callsInPlace(lease, environment, landStep);
}

function callsInSandbox(lease: Lease, given: ToolEnvironment, late: RecordedLateChanges | undefined): RecordedCalls {
  const outputs = new RecordedOutputs(lease);
  const environment = { ...given, outputs, mayBeDone: mayBeDone(lease) };
  const recorded = (call: KeyedCall, made: () => Promise<ToolOutcome>): Promise<CallRecord> =>
    runStep(
      lease,
      stepKey("tool_call", call.key),
      async () => {
        const outcome = await (late === undefined ? made() : late.during({ ...call, request: call }, made));
        return recordOf(call.order(), outcome.ok ? { ...outcome, ...(await instructionsOf(call)) } : outcome);
      },
      (tx) => outputs.commit(tx, call.by),
    );
  return {
    make: async (call) => void (await recorded(call, () => callTool(call, environment))),
    attempt: async (call) => outcomeOf(call, await recorded(call, () => tryTool(call, environment)), environment.tools),
  };
}

/** Calls that an earlier owner of the lease began and did not record, for the same answer of the model. */
function mayBeDone(lease: Lease): NonNullable<ToolEnvironment["mayBeDone"]> {
  return (request) =>
    lease.store.read(async (reader) => {
      const begun = await begunBefore(reader, request, lease.epoch);
      if (begun.length === 0) return false;
      const recorded = new Set(
        (await findStepsOfKind(reader, lease.plan, "tool_call")).map(({ changeset }) => changeset),
      );
      return begun.some((changeset) => !recorded.has(changeset));
    });
}

/** The long outputs of calls: staged while the call runs, and committed with its record. */
class RecordedOutputs implements CallOutputs {
  readonly #lease: Lease;
  readonly #staged = new Map<string, StagedContent>();

  constructor(lease: Lease) {
    this.#lease = lease;
  }

  async keep(by: string, output: string | Uint8Array): Promise<string> {
    const bytes = typeof output === "string" ? Buffer.from(output, "utf8") : output;
    const staged = await stageContent(this.#lease.store, bytes);
    this.#staged.set(by, staged);
    return staged.hash;
  }

  async read(by: string): Promise<string | undefined> {
    // A key may not be longer, and no call can have such a name.
    if (by === "" || by.length > 180) return undefined;
    const known = await recordedStep<CallRecord>(this.#lease, stepKey("tool_call", by));
    const hash = known === undefined ? undefined : keptOutput(known.result);
    if (hash === undefined) return undefined;
    for await (const [, bytes] of readContents(this.#lease.store, [hash])) return Buffer.from(bytes).toString("utf8");
    return undefined;
  }

  has(by: string): boolean {
    return this.#staged.has(by);
  }

  async commit(tx: Tx, by: string): Promise<void> {
    await this.#staged.get(by)?.commit(tx);
  }
}

/** The hash of the whole output that a call has beside its recorded one. */
export function keptOutput(record: object): string | undefined {
  const output = "output" in record ? record.output : undefined;
  if (typeof output !== "object" || output === null || !("whole" in output)) return undefined;
  const { whole } = output;
  return typeof whole === "string" ? whole : undefined;
}

function callsInPlace(lease: Lease, given: ToolEnvironment, land: LandStep): RecordedCalls {
  const outputs = new RecordedOutputs(lease);
  const environment = { ...given, outputs, mayBeDone: mayBeDone(lease) };
  const workspaces = [...environment.workspaces.values()];
  const landing = async <T>(call: KeyedCall, made: (endCall: EndCall) => Promise<T>): Promise<T> => {
    const { by, decision } = call;
    try {
      return await made(async (changeset, end, output) => {
        const { id, call: begun } = changeset;
        if (begun === undefined) throw new Error(`the changeset ${id} of a step was opened without a call`);
        const changed = changeset.hasEntries ? ({ changed: true } as const) : {};
        const ended = { ok: true, output, ...changed, changeset: id, ...(await instructionsOf(call)) } as const;
        const result = recordOf(call.order(), ended);
        const step = {
          key: stepKey("tool_call", call.key).key,
          result,
          changeset: id,
          invocation: begun.id,
          decision,
          end,
        };
        // Without a record that names them they are only bytes that nothing points at.
        if (outputs.has(by)) await lease.store.transaction((tx) => outputs.commit(tx, by));
        let landed = false;
        for (const workspace of workspaces)
          landed ||= await workspace.landCall(by, (pending) => land({ ...step, ...pending, where: workspace.sandbox }));
        if (!landed) await land({ ...step, where: undefined, changes: [], emptied: [] });
        changeset.closedElsewhere();
      });
    } finally {
      for (const workspace of workspaces) workspace.dropCall(by);
    }
  };
  return {
    make: async (call) => void (await landing(call, (endCall) => callTool(call, environment, endCall))),
    attempt: async (call) => {
      const key = stepKey("tool_call", call.key);
      const known = await recordedStep<CallRecord>(lease, key);
      if (known !== undefined) return outcomeOf(call, known.result, environment.tools);
      const outcome = await landing(call, (endCall) => tryTool(call, environment, endCall));
      // A success is recorded together with its effect.
      const recorded = outcome.ok
        ? (await recordedStep<CallRecord>(lease, key))?.result
        : await runStep(lease, key, async () => recordOf(call.order(), outcome));
      return recorded === undefined ? outcome : outcomeOf(call, recorded, environment.tools);
    },
  };
}

/** A tool call as it is stored. */
type CallRecord =
  | {
      readonly order: number[];
      readonly changeset?: ChangesetId;
      readonly output: JsonValue;
      readonly changed?: true;
      readonly instructions?: { readonly path: string; readonly text: string }[];
    }
  | { readonly order: number[]; readonly changeset?: ChangesetId; readonly error: string };

function recordOf(order: Order, outcome: ToolOutcome): CallRecord {
  const changeset = outcome.changeset === undefined ? {} : { changeset: outcome.changeset };
  if (!outcome.ok) return { order: [...order], ...changeset, error: outcome.error };
  const { output, changed, instructions } = outcome;
  return {
    order: [...order],
    ...changeset,
    output,
    ...(changed === undefined ? {} : { changed }),
    ...(instructions === undefined ? {} : { instructions: [...instructions] }),
  };
}

async function instructionsOf({ instructions }: KeyedCall): Promise<Pick<CalledWell, "instructions">> {
  const found = (await instructions?.()) ?? [];
  return found.length === 0 ? {} : { instructions: found };
}

type CalledWell = Extract<ToolOutcome, { ok: true }>;

function outcomeOf(call: KeyedCall, record: CallRecord, tools: ToolSet): ToolOutcome {
  const changeset = record.changeset === undefined ? {} : { changeset: record.changeset };
  if ("error" in record) return { ok: false, error: record.error, ...changeset };
  const { order: _, ...kept } = record;
  return { ok: true, ...kept, ...told(call, record.output, tools) };
}
