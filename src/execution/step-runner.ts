import { ChangesetStore } from "../ledger/changesets.ts";
import type { JsonValue } from "../domain/json.ts";
import type { ChangeEntry } from "../domain/change-entry.ts";
import type { ChangesetId, PlanId } from "../domain/ids.ts";
import type { Lease } from "../ledger/leases.ts";
import { runStep } from "../ledger/steps.ts";
import type { Store } from "../store/store.ts";
import { netChanges } from "./net-changes.ts";
import { PlanExecutionContext } from "./plan-execution-context.ts";
import { describeSandbox, recordSandbox } from "./sandbox-record.ts";
import { openSandbox, type SandboxTarget } from "./sandbox.ts";
import { callTool, type ToolEnvironment } from "./tool-pipeline.ts";
import { Workspace } from "./workspace.ts";

/**
 * Runs the steps of a tool actor, wave by wave. Each step is a durable step with a changeset of its own; its record names the
 * changeset, so what counts as done are exactly the changes of recorded steps. A resumed run first makes the sandboxes what base and
 * those changes say, and so repeats an interrupted step from a clean start: its earlier changes are credited to nobody.
 */
export interface ToolStep {
  readonly id: string;
  readonly tool: string;
  readonly params: Readonly<Record<string, JsonValue>>;
}

export interface StepRun {
  readonly lease: Lease<"execute">;
  /** Below which sandboxes are kept. */
  readonly directory: string;
  readonly targets: readonly SandboxTarget[];
  /** Steps of one wave need nothing of each other. */
  readonly waves: readonly (readonly ToolStep[])[];
  readonly signal: AbortSignal;
  readonly onStep: (step: ToolStep, event: "started" | "done" | "recorded" | "failed", facts: StepFacts) => void;
}

export interface StepFacts {
  readonly durationMs: number;
  readonly error?: unknown;
}

export async function runToolSteps(run: StepRun): Promise<void> {
  const { lease, waves } = run;
  const { store, plan } = lease;
  const context = new PlanExecutionContext({ store, plan, lease });
  const workspaces = await openWorkspaces(run, context);
  const recorded = await recordedSteps(store, plan.id, plan.attempt);
  const signal = AbortSignal.any([run.signal, lease.signal]);
  const environment: ToolEnvironment = { workspaces, readOnly: plan.readOnly, signal };
  for (const [index, wave] of waves.entries()) {
    for (const workspace of workspaces.values()) workspace.beginWave();
    const outcomes = await Promise.allSettled(
      wave.map(async (step, position) =>
        recorded.has(step.id)
          ? run.onStep(step, "recorded", { durationMs: 0 })
          : oneStep(run, context, environment, step, [index, position]),
      ),
    );
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}

async function oneStep(
  run: StepRun,
  context: PlanExecutionContext,
  environment: ToolEnvironment,
  step: ToolStep,
  order: readonly [wave: number, position: number],
): Promise<void> {
  const started = performance.now();
  const facts = (): StepFacts => ({ durationMs: performance.now() - started });
  run.onStep(step, "started", facts());
  try {
    await runStep(run.lease, stepKey(step.id), async () => {
      const changeset = await context.startChangeset();
      const request = { tool: step.tool, params: step.params, by: step.id };
      const output = await context.run(changeset, () => callTool(request, environment));
      await changeset.close();
      return { order, changeset: changeset.id, output };
    });
  } catch (error) {
    run.onStep(step, "failed", { ...facts(), error });
    throw error;
  }
  run.onStep(step, "done", facts());
}

function stepKey(id: string): string {
  return `tool-step:${id}`;
}

interface StepRecord {
  readonly order: readonly [wave: number, position: number];
  readonly changeset: ChangesetId;
}

/** The recorded steps of an attempt in program order, with their changesets. */
export async function recordedSteps(
  store: Store,
  planId: PlanId,
  attempt: number,
): Promise<ReadonlyMap<string, ChangesetId>> {
  const rows = await store.read((reader) =>
    reader.all<{ key: string; result: string }>(
      "SELECT key, result FROM steps WHERE plan_id = ? AND phase = 'execute' AND attempt = ? AND key LIKE 'tool-step:%'",
      planId,
      attempt,
    ),
  );
  const steps = rows.map(({ key, result }) => ({
    id: key.slice("tool-step:".length),
    ...(JSON.parse(result) as StepRecord),
  }));
  steps.sort((a, b) => a.order[0] - b.order[0] || a.order[1] - b.order[1]);
  return new Map(steps.map(({ id, changeset }) => [id, changeset]));
}

/** Every change of the plan's current attempt that counts, step by step. */
export async function planChanges(store: Store, planId: PlanId, attempt: number): Promise<ChangeEntry[]> {
  const changesets = new ChangesetStore(store);
  const entries: ChangeEntry[] = [];
  for (const id of (await recordedSteps(store, planId, attempt)).values())
    entries.push(...(await changesets.entries(id)));
  return entries;
}

async function openWorkspaces(run: StepRun, context: PlanExecutionContext): Promise<ReadonlyMap<string, Workspace>> {
  const { store, plan } = run.lease;
  const changesets = new ChangesetStore(store);
  const changes = await planChanges(store, plan.id, plan.attempt);
  const workspaces = new Map<string, Workspace>();
  for (const target of run.targets) {
    const place = { directory: run.directory, planId: plan.id, attempt: plan.attempt };
    const sandbox = await openSandbox(place, target);
    const record = describeSandbox(sandbox);
    await store.transaction((tx) => recordSandbox(tx, plan, record));
    const workspace = new Workspace({ sandbox, context, contents: (hash) => changesets.content(hash) });
    const own = changes.filter((entry) => entry.resource === target.alias);
    if (!sandbox.fresh || own.length > 0) await workspace.restore(netChanges(own));
    workspaces.set(target.alias, workspace);
  }
  return workspaces;
}
