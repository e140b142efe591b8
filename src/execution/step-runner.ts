import { ChangesetStore } from "../ledger/changesets.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { ChangeEntry } from "../domain/change-entry.ts";
import type { ChosenWork } from "../domain/decision.ts";
import type { ChangesetId, DecisionId, PlanId } from "../domain/ids.ts";
import type { Lease } from "../ledger/leases.ts";
import { recordedStep, runStep } from "../ledger/steps.ts";
import type { Reader, Store } from "../store/store.ts";
import type { LandStep } from "./in-place.ts";
import type { ContextPort } from "./context-port.ts";
import { storable } from "../domain/text.ts";
import { endedSteps, placedRecords, planStepOf, workKey, type Order } from "./step-records.ts";
import { netChanges } from "./net-changes.ts";
import { PlanExecutionContext } from "./plan-execution-context.ts";
import { beginningIn, findSandboxRecords, recordSandbox } from "./sandbox-record.ts";
import { requireSameBeginning } from "./same-beginning.ts";
import { endCommands, ownCommands } from "./confinement/running-command.ts";
import { openSandbox, sandboxHome, type Sandbox, type SandboxPlace, type SandboxTarget } from "./sandbox.ts";
import { callTool, tryTool, type EndCall, type ToolEnvironment, type ToolRequest } from "./tool-pipeline.ts";
import { Workspace } from "./workspace.ts";

/**
 * Runs the steps of a plan, wave by wave. A step of a tool actor is one tool call; any other is worked out on the way, by whoever is
 * handed in to do it, with as many calls as it takes. Each call is a durable step with a changeset of its own; its record names the changeset, so what counts as done are exactly the changes of recorded steps. A resumed run first makes the sandboxes what base and
 * those changes say, and so repeats an interrupted step from a clean start: its earlier changes are credited to nobody.
 */
export interface ToolStep {
  readonly id: string;
  readonly tool: string;
  readonly params: JsonObject;
  /** What was decided, and is carried out by this step. */
  readonly decision: DecisionId;
}

/** A step whose calls are not known beforehand. */
export interface WorkStep {
  readonly id: string;
  readonly tool: undefined;
  readonly work: ChosenWork;
  readonly decision: DecisionId;
}

export type DecidedStep = ToolStep | WorkStep;

/** What whoever carries out a step works with. */
export interface StepPlace {
  readonly order: Order;
  readonly environment: ToolEnvironment;
  readonly call: (call: KeyedCall) => Promise<CallRecord>;
}

/** A tool call of a step, by its place in the program. */
interface KeyedCall extends ToolRequest {
  /** Unique in the plan. */
  readonly key: string;
  /** Asked once, when the call is recorded. */
  readonly order: () => Order;
}

/** What is recorded of a tool call. */
export type CallRecord =
  | { readonly order: Order; readonly changeset: ChangesetId; readonly output: JsonValue }
  | { readonly order: Order; readonly changeset?: ChangesetId; readonly error: string };

export interface StepRun {
  readonly lease: Lease<"execute">;
  /** Below which sandboxes are kept. */
  readonly directory: string;
  readonly targets: readonly SandboxTarget[];
  /** Steps of one wave need nothing of each other. */
  readonly waves: readonly (readonly DecidedStep[])[];
  /** Carries out a step that is no single tool call, and says what came of it. */
  readonly work?: (step: WorkStep, place: StepPlace) => Promise<string>;
  readonly signal: AbortSignal;
  /** For plans that work in place: lands what a step changes, and records the step together with it. */
  readonly landStep?: LandStep;
  /** Makes what answers the steps' questions about the plan, once its sandboxes are open. */
  readonly knowledge?: ((workspaces: ReadonlyMap<string, Workspace>) => ContextPort) | undefined;
  /** Told of each sandbox once it is open. */
  readonly onSandbox?: (sandbox: Sandbox) => void;
  readonly onStep: (step: DecidedStep, event: "started" | "done" | "recorded" | "failed", facts: StepFacts) => void;
}

export interface StepFacts {
  readonly durationMs: number;
  readonly error?: unknown;
}

/** What the steps left open, for what comes behind them: hooks and validations. */
export interface OpenSandboxes extends AsyncDisposable {
  readonly context: PlanExecutionContext;
  /** By the alias of the resource. */
  readonly workspaces: ReadonlyMap<string, Workspace>;
}

export async function runToolSteps(run: StepRun): Promise<OpenSandboxes> {
  const { lease, waves } = run;
  const { store, plan } = lease;
  const context = new PlanExecutionContext({ store, plan, lease });
  await using opened = new AsyncDisposableStack();
  const changes = await planChanges(store, plan.id, plan.attempt);
  const workspaces = await openWorkspaces(run, context, changes, opened);
  const recorded = await endedSteps(store, plan.id, plan.attempt);
  const signal = AbortSignal.any([run.signal, lease.signal]);
  const environment: ToolEnvironment = {
    context,
    workspaces,
    knowledge: run.knowledge?.(workspaces),
    readOnly: plan.readOnly,
    signal,
  };
  for (const [index, wave] of waves.entries()) {
    for (const [alias, workspace] of workspaces) workspace.beginWave(touchedIn(wave, alias, changes));
    const outcomes = await settled(wave, async (step, position) =>
      recorded.has(step.id)
        ? run.onStep(step, "recorded", { durationMs: 0 })
        : oneStep(run, environment, step, [index, position]),
    );
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
  const kept = opened.move();
  return { context, workspaces, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Models are asked by so many steps at a time: more would only wait for their providers, and hold their conversations meanwhile. */
const WORKED_ON_AT_ONCE = 8;

/** Runs the steps side by side and waits for all of them; the outcomes are in the order of the steps. */
async function settled(
  wave: readonly DecidedStep[],
  run: (step: DecidedStep, position: number) => Promise<void>,
): Promise<PromiseSettledResult<void>[]> {
  const outcomes: PromiseSettledResult<void>[] = [];
  const waiting = [...wave.entries()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [position, step] = next;
      const [outcome] = await Promise.allSettled([run(step, position)]);
      outcomes[position] = outcome;
    }
  };
  const workers = wave.some(({ tool }) => tool === undefined) ? WORKED_ON_AT_ONCE : wave.length;
  await Promise.all(Array.from({ length: Math.min(workers, wave.length) }, worker));
  return outcomes;
}

/** Which call of the wave changed a path before: who goes on after an interruption must not take it from the other. */
function touchedIn(
  wave: readonly DecidedStep[],
  alias: string,
  changes: readonly PlanChange[],
): ReadonlyMap<string, string> {
  const ids = new Set(wave.map(({ id }) => id));
  const own = changes.filter(({ resource, step }) => resource === alias && ids.has(planStepOf(step)));
  return new Map(
    own.flatMap(({ path, fromPath, step }) =>
      [path, fromPath].flatMap((one) => (one === undefined ? [] : [[one, step] as const])),
    ),
  );
}

async function oneStep(run: StepRun, environment: ToolEnvironment, step: DecidedStep, order: Order): Promise<void> {
  const started = performance.now();
  const facts = (): StepFacts => ({ durationMs: performance.now() - started });
  run.onStep(step, "started", facts());
  try {
    if (step.tool === undefined) await workedOut(run, environment, step, order);
    else await oneCall(run, environment, step, order);
  } catch (error) {
    run.onStep(step, "failed", { ...facts(), error });
    throw error;
  }
  run.onStep(step, "done", facts());
}

async function oneCall(run: StepRun, environment: ToolEnvironment, step: ToolStep, order: Order): Promise<void> {
  const { id, tool, params, decision } = step;
  const call = { key: id, order: () => order, tool, params, by: id, decision };
  if (run.landStep !== undefined) return callInPlace(run.landStep, environment, call);
  await runStep(run.lease, stepKey(id), async () => {
    const { output, changeset } = await callTool(call, environment);
    return { order, changeset, output };
  });
}

/** Everything that a step does comes before its end, however much it is. */
const AT_THE_END: number = Number.MAX_SAFE_INTEGER;

async function workedOut(run: StepRun, environment: ToolEnvironment, step: WorkStep, order: Order): Promise<void> {
  const { work } = run;
  if (work === undefined) throw new Error(`nobody is there to work out the step "${step.id}"`);
  const call = (one: KeyedCall): Promise<CallRecord> => recordedCall(run, environment, one);
  await runStep(run.lease, workKey(step.id), async () => ({
    order: [...order, AT_THE_END],
    summary: await work(step, { order, environment, call }),
  }));
}

/** A tool call by whoever decides what to do about a failure: that it failed is recorded too, with what it had changed until then. */
async function recordedCall(run: StepRun, environment: ToolEnvironment, call: KeyedCall): Promise<CallRecord> {
  const { lease, landStep } = run;
  const key = stepKey(call.key);
  const attempt = async (endCall?: EndCall): Promise<CallRecord> => {
    const called = await tryTool(call, environment, endCall);
    const { changeset } = called;
    return "failure" in called
      ? {
          order: call.order(),
          ...(changeset === undefined ? {} : { changeset }),
          error: storable(called.failure.message),
        }
      : { order: call.order(), changeset: called.changeset, output: called.output };
  };
  if (landStep === undefined) return runStep(lease, key, () => attempt());
  const known = await recordedStep<CallRecord>(lease, key);
  if (known !== undefined) return known.result;
  const record = await inPlace(environment, call, landStep, attempt);
  // What went well was recorded by whoever landed it, together with its effect.
  return "error" in record ? runStep(lease, key, () => record) : record;
}

async function callInPlace(land: LandStep, environment: ToolEnvironment, call: KeyedCall): Promise<void> {
  await inPlace(environment, call, land, (endCall) => callTool(call, environment, endCall));
}

/** The step is recorded by whoever lands it, together with its effect. */
async function inPlace<T>(
  environment: ToolEnvironment,
  { key, by, decision, order }: KeyedCall,
  land: LandStep,
  call: (endCall: EndCall) => Promise<T>,
): Promise<T> {
  const workspaces = [...environment.workspaces.values()];
  try {
    return await call(async (changeset, end, output) => {
      const { id, call: begun } = changeset;
      if (begun === undefined) throw new Error(`the changeset ${id} of a step was opened for no call`);
      const result = { order: [...order()], changeset: id, output };
      const step = { key: stepKey(key), result, changeset: id, invocation: begun.id, decision, end };
      const changed = workspaces.find((workspace) => workspace.pending.has(by));
      if (changed === undefined) await land({ ...step, where: undefined, changes: [], emptied: [] });
      else await changed.landPending(by, (pending) => land({ ...step, ...pending, where: changed.sandbox }));
      changeset.closedElsewhere();
    });
  } finally {
    for (const workspace of workspaces) workspace.pending.drop(by);
  }
}

function stepKey(id: string): string {
  return `tool-step:${id}`;
}

export function isToolStep(key: string): boolean {
  return key.startsWith(stepKey(""));
}

/** The steps of an actor have names of letters, digits, "_" and "-". */
export function isHookStep(id: string): boolean {
  return id.startsWith("hook:");
}

export interface StepRecord {
  /** Under which `runStep` recorded it. */
  readonly key: string;
  readonly id: string;
  readonly changeset: ChangesetId;
  readonly order: Order;
}

/** What an attempt recorded of tool calls and hooks that counts, in program order; the hooks, by their whole keys, behind the others. */
export async function stepRecords(reader: Reader, planId: PlanId, attempt: number): Promise<StepRecord[]> {
  const records = await placedRecords(reader, planId, attempt);
  return records.flatMap(({ key, changeset, order }) =>
    changeset === undefined ? [] : [{ key, id: key.replace(/^tool-step:/, ""), changeset, order }],
  );
}

/** The recorded steps of an attempt in program order, with their changesets. */
export async function recordedSteps(
  store: Store,
  planId: PlanId,
  attempt: number,
): Promise<ReadonlyMap<string, ChangesetId>> {
  const records = await store.read((reader) => stepRecords(reader, planId, attempt));
  return new Map(records.map(({ id, changeset }) => [id, changeset]));
}

/** A change together with the step that made it. */
export interface PlanChange extends ChangeEntry {
  readonly step: string;
}

/** Every change of the plan's current attempt that counts, step by step. */
export async function planChanges(store: Store, planId: PlanId, attempt: number): Promise<PlanChange[]> {
  const changesets = new ChangesetStore(store);
  const changes: PlanChange[] = [];
  for (const [step, id] of await recordedSteps(store, planId, attempt)) {
    for (const entry of await changesets.entries(id)) changes.push({ ...entry, step });
  }
  return changes;
}

/** Whatever an earlier owner of the plan left running in it is ended first. In place no command runs. */
async function ownSandbox({ epoch }: Lease, place: SandboxPlace, target: SandboxTarget): Promise<Sandbox> {
  if (target.strategy === "none") return openSandbox(place, target);
  const home = sandboxHome(place, target.alias);
  await endCommands(home, epoch);
  const sandbox = await openSandbox(place, target);
  return { ...sandbox, commands: await ownCommands(home, epoch) };
}

async function openWorkspaces(
  run: StepRun,
  context: PlanExecutionContext,
  changes: readonly PlanChange[],
  opened: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Workspace>> {
  const { store, plan } = run.lease;
  const changesets = new ChangesetStore(store);
  const { allowUnsafeTools: network, requireConfinement } = plan.profile;
  const records = await store.read((reader) => findSandboxRecords(reader, plan.id, plan.attempt));
  const workspaces = new Map<string, Workspace>();
  for (const target of run.targets) {
    const place = { directory: run.directory, planId: plan.id, attempt: plan.attempt };
    const known = records.find(({ alias }) => alias === target.alias);
    const sandbox = await ownSandbox(run.lease, place, { ...target, ...beginningIn(known) });
    if (known === undefined) await store.transaction((tx) => recordSandbox(tx, plan, sandbox));
    run.onSandbox?.(sandbox);
    const workspace = opened.use(
      new Workspace({ sandbox, network, requireConfinement, context, contents: (hash) => changesets.content(hash) }),
    );
    const own = changes.filter((entry) => entry.resource === target.alias);
    if (sandbox.fresh && own.length > 0) await requireSameBeginning(place, sandbox, netChanges(own));
    if (!sandbox.fresh || own.length > 0) await workspace.restore(netChanges(own));
    workspaces.set(target.alias, workspace);
  }
  return workspaces;
}
