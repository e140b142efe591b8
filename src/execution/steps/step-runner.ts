/**
 * Runs the steps of a plan, wave by wave. A step of a tool actor is one tool call; any other is worked out on the way
 * by the caller's `work`, with as many calls as it takes. Each call is a durable step with a changeset of its own;
 * its record names the changeset, so exactly the changes of recorded steps count as done. A resumed run first makes
 * the sandboxes what base and those changes say, and so repeats an interrupted step from a clean start: the
 * interrupted step's earlier changes do not count.
 */
import type { DecidedStep, WorkStep } from "../../changes/decided-steps.ts";
import { planChanges, type PlanChange } from "../../changes/plan-changes.ts";
import { endedSteps, nextWave, planStepOf, waveOf, type Order } from "../../changes/step-records.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { Tell } from "../../domain/run-event.ts";
import type { Lease } from "../../ledger/leases.ts";
import { stepKey } from "../../ledger/records.ts";
import { runStep } from "../../ledger/steps.ts";
import type { SandboxTarget } from "../sandbox/sandbox.ts";
import type { ReadPage } from "../../platform/web-page.ts";
import type { ContextPort } from "../tools/context-port.ts";
import type { SyntaxCheck } from "../tools/syntax-check.ts";
import type { ToolEnvironment } from "../tools/tool-pipeline.ts";
import { ONLY_BUILT_IN, type ToolSet } from "../tools/tool-set.ts";
import type { LandStep } from "../workspace/pending-changes.ts";
import { PlanExecutionContext } from "../workspace/plan-execution-context.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openWorkspaces, type MadeSandboxes } from "./open-workspaces.ts";
import { RecordedLateChanges } from "./late-changes.ts";
import { recordedCalls, type KeyedCall, type RecordedCalls } from "./recorded-calls.ts";

/** The surroundings of a step that is worked out. */
export interface StepPlace {
  readonly order: Order;
  readonly environment: ToolEnvironment;
  readonly call: (call: KeyedCall) => Promise<ToolOutcome>;
  /** Ends the commands that the step left in the background, and records their last changes. */
  readonly endCommands: (end: { readonly step: string; readonly order: () => Order }) => Promise<void>;
}

export interface StepRun {
  readonly lease: Lease<"execute">;
  /** Sandboxes are kept below it. */
  readonly directory: string;
  readonly targets: readonly SandboxTarget[];
  /** The sandboxes that this process made just before, for the strategy. */
  readonly made?: MadeSandboxes | undefined;
  /** Steps of one wave do not need each other. */
  readonly waves: readonly (readonly DecidedStep[])[];
  /** The waves as they are now, asked for after each wave: a step may have revised the strategy. */
  readonly revisedWaves?: (() => Promise<readonly (readonly DecidedStep[])[]>) | undefined;
  /** Carries out a step that is not a single tool call, and returns its summary. */
  readonly work?: (step: WorkStep, place: StepPlace) => Promise<string>;
  /** The tools of the plan; only the built-in ones unless given. */
  readonly tools?: ToolSet | undefined;
  readonly signal: AbortSignal;
  /** For plans that work in place: writes the changes of a step, and records the step together with them. */
  readonly landStep?: LandStep;
  /** Makes the port that answers the steps' questions about the plan, once its sandboxes are open. */
  readonly knowledge?: ((workspaces: ReadonlyMap<string, Workspace>) => ContextPort) | undefined;
  /** Reads the web, for plans that may use the network. */
  readonly web?: ReadPage | undefined;
  /** Finds syntax errors in files that a tool has changed. */
  readonly syntax?: SyntaxCheck | undefined;
  readonly tell: Tell;
  /** Called with the failures of a wave behind the first one, which is thrown. */
  readonly onOtherFailures?: (errors: readonly unknown[]) => void;
}

/** The open sandboxes of the steps, for the hooks and validations that come after them. */
export interface OpenSandboxes extends AsyncDisposable {
  readonly context: PlanExecutionContext;
  /** By the alias of the resource. */
  readonly workspaces: ReadonlyMap<string, Workspace>;
}

/** The same, with a way to have further steps worked out there. */
export interface OpenSteps extends OpenSandboxes {
  /** Carries the step out, unless that is recorded. */
  work(step: WorkStep): Promise<void>;
}

/** One run, with its steps' surroundings. */
interface StartedRun extends StepRun {
  readonly environment: ToolEnvironment;
  readonly calls: RecordedCalls;
  readonly late: RecordedLateChanges;
}

export async function runToolSteps(run: StepRun): Promise<OpenSteps> {
  const { lease } = run;
  const { store, plan } = lease;
  const context = new PlanExecutionContext({ store, plan, lease });
  await using opened = new AsyncDisposableStack();
  const changes = await planChanges(store, plan.id, plan.attempt);
  const late = new RecordedLateChanges(lease, context);
  const setup = { signal: AbortSignal.any([run.signal, lease.signal]) };
  const workspaces = await openWorkspaces({ ...run, context, changes, late, setup }, opened);
  const environment: ToolEnvironment = {
    context,
    tools: run.tools ?? ONLY_BUILT_IN,
    workspaces,
    knowledge: run.knowledge?.(workspaces),
    web: plan.profile.network === "on" ? run.web : undefined,
    syntax: run.syntax,
    readOnly: plan.readOnly,
    signal: AbortSignal.any([run.signal, lease.signal]),
  };
  const calls = recordedCalls({ lease, environment, landStep: run.landStep, late });
  const started = { ...run, environment, calls, late };
  const done = new Set(await endedSteps(store, plan.id, plan.attempt));
  let { waves } = run;
  for (const step of waves.flat()) if (done.has(step.id)) run.tell({ type: "step_recorded", ...aboutStep(step) });
  for (let wave = firstOpen(waves, done); wave !== undefined; wave = firstOpen(waves, done)) {
    await runWave(started, wave, { done, changes });
    for (const { id } of wave) done.add(id);
    waves = (await run.revisedWaves?.()) ?? waves;
  }
  const kept = opened.move();
  return {
    context,
    workspaces,
    work: async (step) => {
      if (!done.has(step.id)) await runWave(started, [step], { done, changes: [] });
      done.add(step.id);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/**
 * Opens the sandboxes for a strategy that is being decided: a model may look at everything, and nothing can be changed.
 */
export async function openForReading(
  run: Pick<StepRun, "directory" | "targets" | "tools" | "signal" | "knowledge" | "web" | "tell"> & {
    readonly lease: Lease<"strategize">;
  },
): Promise<AsyncDisposable & { readonly place: StepPlace; readonly made: MadeSandboxes }> {
  const { lease } = run;
  const { store, plan } = lease;
  const context = new PlanExecutionContext({ store, plan, lease });
  await using opened = new AsyncDisposableStack();
  const workspaces = await openWorkspaces({ ...run, context, changes: [] }, opened);
  const environment: ToolEnvironment = {
    context,
    tools: run.tools ?? ONLY_BUILT_IN,
    workspaces,
    knowledge: run.knowledge?.(workspaces),
    web: plan.profile.network === "on" ? run.web : undefined,
    readOnly: true,
    signal: AbortSignal.any([run.signal, lease.signal]),
  };
  const calls = recordedCalls({ lease, environment, landStep: undefined });
  const endCommands = async (): Promise<void> => undefined;
  const place = { order: [0, 0], environment, call: (one: KeyedCall) => calls.attempt(one), endCommands };
  const aliases = [...workspaces].flatMap(([alias, { sandbox }]) => (sandbox.fresh ? [alias] : []));
  const kept = opened.move();
  return { place, made: { epoch: lease.epoch, aliases }, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function firstOpen(
  waves: readonly (readonly DecidedStep[])[],
  done: ReadonlySet<string>,
): readonly DecidedStep[] | undefined {
  return waves.find((wave) => wave.some(({ id }) => !done.has(id)));
}

async function runWave(
  run: StartedRun,
  wave: readonly DecidedStep[],
  known: { readonly done: ReadonlySet<string>; readonly changes: readonly PlanChange[] },
): Promise<void> {
  const { lease, environment } = run;
  for (const [alias, workspace] of environment.workspaces) workspace.beginWave(touchedIn(wave, alias, known.changes));
  const number = await waveNumber(lease, wave);
  const outcomes = await settled(wave, async (step, position) =>
    known.done.has(step.id) ? undefined : oneStep(run, step, [number, position]),
  );
  const [failed, ...others] = outcomes.filter((outcome) => outcome.status === "rejected");
  if (failed === undefined) return;
  if (others.length > 0) run.onOtherFailures?.(others.map(({ reason }) => reason as unknown));
  throw failed.reason;
}

/** The number that an earlier run gave the wave; a new wave comes behind everything that is recorded. */
async function waveNumber({ store, plan }: Lease<"execute">, wave: readonly DecidedStep[]): Promise<number> {
  return store.read(async (reader) => {
    const known = await waveOf(reader, plan, new Set(wave.map(({ id }) => id)));
    return known ?? nextWave(reader, plan);
  });
}

/**
 * So many steps ask models at a time: more would only wait for their providers, and hold their conversations
 * meanwhile.
 */
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

/** Which call of the wave changed a path before: after an interruption, another step must not take the path. */
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

async function oneStep(run: StartedRun, step: DecidedStep, order: Order): Promise<void> {
  const started = performance.now();
  const about = aboutStep(step);
  run.tell({ type: "step_started", ...about });
  try {
    if (step.tool === undefined) await workOut(run, step, order);
    else {
      const { id, tool, params, decision } = step;
      await run.calls.make({ key: id, order: () => order, tool, params, by: id, decision });
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    run.tell({ type: "step_failed", ...about, durationMs: performance.now() - started, error: message });
    throw error;
  }
  run.tell({ type: "step_done", ...about, durationMs: performance.now() - started });
}

function aboutStep(step: DecidedStep): { step: string; tool: string | undefined; description: string } {
  return { step: step.id, tool: step.tool, description: step.tool ?? step.work.description };
}

/** Everything that a step does comes before its end, however much it is. */
const AT_THE_END: number = Number.MAX_SAFE_INTEGER;

async function workOut(run: StartedRun, step: WorkStep, order: Order): Promise<void> {
  const { lease, work, environment, calls } = run;
  if (work === undefined) throw new Error(`the run has no "work" to carry out the step "${step.id}"`);
  const call = (one: KeyedCall): Promise<ToolOutcome> => calls.attempt(one);
  await runStep(lease, stepKey("step_end", step.id), async () => ({
    order: [...order, AT_THE_END],
    summary: await work(step, { order, environment, call, endCommands: (end) => endCommands(run, end) }),
  }));
}

/** Under a lost lease, or once the plan is stopped, nothing can be recorded any more: they are only ended. */
async function endCommands(
  { environment: { workspaces, signal }, late }: StartedRun,
  { step, order }: Parameters<StepPlace["endCommands"]>[0],
): Promise<void> {
  const by = `${step}/end`;
  await late.during({ by, order }, async () => {
    for (const { background } of workspaces.values()) await background?.endOf(step);
    if (signal.aborted) return;
    for (const workspace of workspaces.values()) await workspace.settleBackground(by);
  });
}
