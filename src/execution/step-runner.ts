import { ChangesetStore } from "../ledger/changesets.ts";
import type { JsonObject } from "../domain/json.ts";
import type { ChangeEntry } from "../domain/change-entry.ts";
import type { ChangesetId, DecisionId, PlanId } from "../domain/ids.ts";
import type { Lease } from "../ledger/leases.ts";
import { runStep } from "../ledger/steps.ts";
import type { Reader, Store } from "../store/store.ts";
import type { LandStep } from "./in-place.ts";
import type { ContextPort } from "./context-port.ts";
import { netChanges } from "./net-changes.ts";
import { PlanExecutionContext } from "./plan-execution-context.ts";
import { beginningIn, findSandboxRecords, recordSandbox } from "./sandbox-record.ts";
import { requireSameBeginning } from "./same-beginning.ts";
import { openSandbox, type Sandbox, type SandboxTarget } from "./sandbox.ts";
import { callTool, type ToolEnvironment, type ToolRequest } from "./tool-pipeline.ts";
import { Workspace } from "./workspace.ts";

/**
 * Runs the steps of a tool actor, wave by wave. Each step is a durable step with a changeset of its own; its record names the
 * changeset, so what counts as done are exactly the changes of recorded steps. A resumed run first makes the sandboxes what base and
 * those changes say, and so repeats an interrupted step from a clean start: its earlier changes are credited to nobody.
 */
export interface ToolStep {
  readonly id: string;
  readonly tool: string;
  readonly params: JsonObject;
  /** What was decided, and is carried out by this step. */
  readonly decision: DecisionId;
}

export interface StepRun {
  readonly lease: Lease<"execute">;
  /** Below which sandboxes are kept. */
  readonly directory: string;
  readonly targets: readonly SandboxTarget[];
  /** Steps of one wave need nothing of each other. */
  readonly waves: readonly (readonly ToolStep[])[];
  readonly signal: AbortSignal;
  /** For plans that work in place: lands what a step changes, and records the step together with it. */
  readonly landStep?: LandStep;
  /** Makes what answers the steps' questions about the plan, once its sandboxes are open. */
  readonly knowledge?: ((workspaces: ReadonlyMap<string, Workspace>) => ContextPort) | undefined;
  /** Told of each sandbox once it is open. */
  readonly onSandbox?: (sandbox: Sandbox) => void;
  readonly onStep: (step: ToolStep, event: "started" | "done" | "recorded" | "failed", facts: StepFacts) => void;
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
  const workspaces = await openWorkspaces(run, context, opened);
  const recorded = await recordedSteps(store, plan.id, plan.attempt);
  const signal = AbortSignal.any([run.signal, lease.signal]);
  const environment: ToolEnvironment = {
    context,
    workspaces,
    knowledge: run.knowledge?.(workspaces),
    readOnly: plan.readOnly,
    signal,
  };
  for (const [index, wave] of waves.entries()) {
    for (const workspace of workspaces.values()) workspace.beginWave();
    const outcomes = await Promise.allSettled(
      wave.map(async (step, position) =>
        recorded.has(step.id)
          ? run.onStep(step, "recorded", { durationMs: 0 })
          : oneStep(run, environment, step, [index, position]),
      ),
    );
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
  const kept = opened.move();
  return { context, workspaces, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function oneStep(
  run: StepRun,
  environment: ToolEnvironment,
  step: ToolStep,
  order: readonly [wave: number, position: number],
): Promise<void> {
  const started = performance.now();
  const facts = (): StepFacts => ({ durationMs: performance.now() - started });
  run.onStep(step, "started", facts());
  const request = { tool: step.tool, params: step.params, by: step.id, decision: step.decision };
  try {
    if (run.landStep === undefined) {
      await runStep(run.lease, stepKey(step.id), async () => {
        const { output, changeset } = await callTool(request, environment);
        return { order, changeset, output };
      });
    } else {
      await stepInPlace(run.landStep, environment, request, order);
    }
  } catch (error) {
    run.onStep(step, "failed", { ...facts(), error });
    throw error;
  }
  run.onStep(step, "done", facts());
}

/** The step is recorded by whoever lands it, together with its effect. */
async function stepInPlace(
  land: LandStep,
  environment: ToolEnvironment,
  request: ToolRequest,
  order: readonly [wave: number, position: number],
): Promise<void> {
  const workspaces = [...environment.workspaces.values()];
  const { by, decision } = request;
  try {
    await callTool(request, environment, async (changeset, end, output) => {
      const { id, call } = changeset;
      if (call === undefined) throw new Error(`the changeset ${id} of a step was opened for no call`);
      const result = { order: [...order], changeset: id, output };
      const step = { key: stepKey(by), result, changeset: id, invocation: call.id, decision, end };
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

interface StepResult {
  readonly order: readonly [wave: number, position: number];
  /** Missing for a hook that was skipped. */
  readonly changeset?: ChangesetId;
}

export interface StepRecord {
  /** Under which `runStep` recorded it. */
  readonly key: string;
  readonly id: string;
  readonly changeset: ChangesetId;
}

/** What an attempt recorded that counts, in program order; the hooks, by their whole keys, behind the others. */
export async function stepRecords(reader: Reader, planId: PlanId, attempt: number): Promise<StepRecord[]> {
  const rows = await reader.all<{ key: string; result: string }>(
    `SELECT key, result FROM steps WHERE plan_id = ? AND phase = 'execute' AND attempt = ?
        AND (key LIKE 'tool-step:%' OR key LIKE 'hook:%')`,
    planId,
    attempt,
  );
  const steps = rows.map(({ key, result }) => ({
    key,
    id: key.replace(/^tool-step:/, ""),
    ...(JSON.parse(result) as StepResult),
  }));
  steps.sort((a, b) => a.order[0] - b.order[0] || a.order[1] - b.order[1]);
  return steps.flatMap(({ key, id, changeset }) => (changeset === undefined ? [] : [{ key, id, changeset }]));
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

async function openWorkspaces(
  run: StepRun,
  context: PlanExecutionContext,
  opened: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Workspace>> {
  const { store, plan } = run.lease;
  const changesets = new ChangesetStore(store);
  const changes = await planChanges(store, plan.id, plan.attempt);
  const network = plan.profile.allowUnsafeTools;
  const records = await store.read((reader) => findSandboxRecords(reader, plan.id, plan.attempt));
  const workspaces = new Map<string, Workspace>();
  for (const target of run.targets) {
    const place = { directory: run.directory, planId: plan.id, attempt: plan.attempt };
    const known = records.find(({ alias }) => alias === target.alias);
    const sandbox = await openSandbox(place, { ...target, ...beginningIn(known) });
    if (known === undefined) await store.transaction((tx) => recordSandbox(tx, plan, sandbox));
    run.onSandbox?.(sandbox);
    const workspace = opened.use(
      new Workspace({ sandbox, network, context, contents: (hash) => changesets.content(hash) }),
    );
    const own = changes.filter((entry) => entry.resource === target.alias);
    if (sandbox.fresh && own.length > 0) await requireSameBeginning(place, sandbox, netChanges(own));
    if (!sandbox.fresh || own.length > 0) await workspace.restore(netChanges(own));
    workspaces.set(target.alias, workspace);
  }
  return workspaces;
}
