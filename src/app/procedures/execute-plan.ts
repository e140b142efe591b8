/** Carries out a plan in the foreground, up to where it is executed or a person has to look at its strategy first. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { AgentsError } from "../../domain/errors/errors.ts";
import { DataDirectory } from "../../platform/data-directory.ts";
import { readTrust } from "../../platform/settings/trust-file.ts";
import type { Store } from "../../store/port.ts";
import { OwnToolSource } from "../../runs/own-tool-source.ts";
import { pageReader } from "../../platform/web-page.ts";
import { privateHostsOf } from "../../domain/settings/web-settings.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import { worksInPlace } from "../../domain/resource/resource.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { RunEvent } from "../../domain/run-event.ts";
import { statusKey } from "../../domain/plan/transitions.ts";
import type { Assessment } from "../../domain/plan/confidence.ts";
import { recordedHooks } from "../../execution/checks/hooks.ts";
import { readinessLine, sandboxAbilities } from "../../execution/checks/test-readiness.ts";
import { planResources } from "../../plans/in-place-rules.ts";
import { diffOf } from "../../changes/diff-cache.ts";
import { leftOut } from "../../execution/sandbox/unapplied-files.ts";
import { planAnswer } from "../../changes/plan-answer.ts";
import { planChanges } from "../../changes/plan-changes.ts";
import { planSpending, type Spending } from "../../ledger/budget-report.ts";
import type { ToolSource } from "../../execution/tools/tool-source.ts";
import { PlanExecutor } from "../../runs/plan-executor.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { Json, NextSteps } from "../base/schemas.ts";
import { Checked, checkedResult } from "../queries/checked-result.ts";
import { DecisionNode, decisionTree } from "../queries/decision-tree.ts";
import { InPlace, placesOf } from "../queries/in-place.ts";
import { PlanFacts, planFacts } from "../queries/plan-facts.ts";
import { planValidations, ValidationFacts, ValidationSummary } from "../queries/plan-validations.ts";
import { planCost, SpendingFacts } from "../queries/spending.ts";
import { outsideParts } from "./outside-work.ts";
import { planMcp } from "./plan-mcp.ts";
import { planSkills } from "./plan-skills.ts";
import { offerRepositoryServers } from "./repository-servers.ts";
import { localModels, modelsOfPlan, whileLearning } from "./announce-model.ts";
import { commandsHere, ConfinementFacts, type CommandsHere } from "./confinement-here.ts";

/** The strategy is there, and the profile wants a person to look at it: executing the plan again is the yes. */
export const StrategyReady = PlanFacts.extend({
  outcome: z.literal("strategy"),
  ran: z.literal(false),
  strategy: DecisionNode.nullable(),
  assessment: z.strictObject({ confidence: z.number(), factors: Json, explanation: z.string() }),
  nextSteps: NextSteps,
});

export const Executed = PlanFacts.extend({
  outcome: z.literal("executed"),
  /** False when the plan had been executed before. */
  ran: z.boolean(),
  inPlace: InPlace,
  confinement: ConfinementFacts,
  sandboxes: z.array(
    z.strictObject({
      resource: z.string(),
      strategy: z.string(),
      path: z.string(),
      ref: z.string().nullable(),
      base: z.string().nullable(),
      includeDirty: z.boolean(),
      status: z.enum(["in place", "made", "resumed"]),
    }),
  ),
  steps: z.array(
    z.strictObject({
      id: z.string(),
      /** Null for one that a model carries out, by tools of its choice. */
      tool: z.string().nullable(),
      status: z.enum(["recorded", "done", "failed"]),
      durationMs: z.number(),
    }),
  ),
  hooks: z.array(z.strictObject({ resource: z.string(), hook: z.string(), skipped: z.boolean() })),
  changes: z.strictObject({ files: z.int(), insertions: z.int(), deletions: z.int() }),
  /** The model's answer in words; null when no model worked on it. */
  answer: z.string().nullable(),
  checked: Checked,
  /** Files that were replaced in place while another program was still writing into them. */
  keptFiles: z.array(z.string()).readonly(),
  cost: SpendingFacts,
  /** Paths that the plan's commands made and that are not part of the plan; null when that cannot be said now. */
  leftOut: z
    .array(z.strictObject({ resource: z.string(), path: z.string() }))
    .readonly()
    .nullable(),
  validations: z.array(ValidationFacts),
  validationSummary: ValidationSummary,
  /** Why the plan cannot be applied like this; null when it can. */
  obstacle: z.string().nullable(),
  nextSteps: NextSteps,
});

export type ExecuteOutcome = z.output<typeof StrategyReady> | z.output<typeof Executed>;

export interface ExecutePlanOptions {
  readonly includeDirty: boolean;
  readonly verify: boolean;
  /** The version of the plan whose strategy was agreed to. */
  readonly seenVersion?: number | undefined;
}

/**
 * Tells what confines the plan's commands, and whether tests can run among them, before anything runs; in place no
 * command runs.
 */
export async function announceConfinement(app: App, plan: Plan, call: Call): Promise<CommandsHere> {
  const commands = await commandsHere(plan.profile);
  const places = await (await app.store()).read((reader) => placesOf(reader, plan));
  if (isExecuted(plan) || places.length > 0) return commands;
  call.tell(commands.notice);
  const lines = await readiness(app, plan).catch((error: unknown) => {
    // A checkout that git cannot list is refused by the execution itself, which says more about it.
    if (error instanceof AgentsError) return [];
    throw error;
  });
  for (const text of lines) call.tell({ type: "notice", level: "info", text });
  return commands;
}

/** One line for each resource of the plan that a project is checked in. */
async function readiness(app: App, plan: Plan): Promise<string[]> {
  await app.commandPolicy(plan.projects.map(({ project }) => project));
  const resources = await (await app.store()).read((reader) => planResources(reader, plan));
  const { network, requireConfinement } = plan.profile;
  const lines: string[] = [];
  for (const { alias, path, sandbox: strategy } of resources) {
    if (!existsSync(path)) continue;
    const abilities = await sandboxAbilities({ path, strategy, network, requireConfinement });
    // A directory that no tool knows as a project has no tests to speak of.
    if (abilities.checks.length === 0 && abilities.carried.length === 0) continue;
    lines.push(readinessLine(abilities, resources.length > 1 ? alias : undefined));
  }
  return lines;
}

function isExecuted(plan: Plan): boolean {
  return plan.phase === "apply" || statusKey(plan) === "execute/complete";
}

async function planExecutor(app: App, sources: readonly ToolSource[]): Promise<PlanExecutor> {
  return new PlanExecutor({
    store: await app.store(),
    service: await app.plans(),
    data: new DataDirectory(app.paths.dataDir),
    context: await app.planContext(),
    web: pageReader(privateHostsOf((await app.setting("web.private-hosts")).value)),
    ownInstructions: join(dirname(app.paths.config), "AGENTS.md"),
    outside: () => outsideParts(app),
    sources,
    models: (lease, tell) => app.budgetedModels(lease, (warning) => tell({ type: "budget_warning", ...warning })),
  });
}

export async function executePlan(
  app: App,
  { id, commands, ...options }: { readonly id: PlanId; readonly commands: CommandsHere } & ExecutePlanOptions,
  call: Call,
): Promise<ExecuteOutcome> {
  const asked = await (await app.plans()).getPlan(id);
  await app.commandPolicy(asked.projects.map(({ project }) => project));
  const store = await app.store();
  if (!isExecuted(asked)) await offerRepositoryServers(app, asked, call);
  const mcp = await planMcp(app, asked, call);
  await using _servers = mcp.servers;
  const executor = await planExecutor(app, [ownTools(app, store), mcp.tools, planSkills(app, asked)]);
  const before = await spendingBefore(app, id);
  // A plan that is executed already asks no model, no matter which actor it has now.
  const refs = isExecuted(asked) ? [] : await modelsOfPlan(app, asked);
  const models = refs.map(({ provider, model }) => `${provider}/${model}`);
  call.tell({ type: "run_started", plan: id, models, spent: before.spent + before.assumed, cap: before.cap?.amount });
  const seen = new Seen();
  const tell = (event: RunEvent): void => {
    seen.on(event);
    call.tell(event);
  };
  const { plan, ran, stopped } = await whileLearning(app, await localModels(app, refs), call, () =>
    executor.execute(id, { ...options, signal: call.signal, tell }),
  );
  if (stopped !== undefined) return strategyReady(app, plan, stopped);
  const entries = await planChanges(store, plan.id, plan.attempt);
  const { files, insertions, deletions } = await diffOf(store, entries);
  const validated = await planValidations(store, plan);
  const { today: _, ...cost } = await planCost(app, plan.id);
  return {
    ...planFacts(plan),
    outcome: "executed",
    ran,
    inPlace: await store.read((reader) => placesOf(reader, plan)),
    confinement: commands.facts,
    sandboxes: seen.sandboxes,
    steps: seen.steps,
    hooks: (await recordedHooks(store, plan)).map(({ resource, hook, skipped }) => ({ resource, hook, skipped })),
    changes: { files: files.length, insertions, deletions },
    answer: (await planAnswer(store, plan)) ?? null,
    checked: await checkedResult(app, plan, validated.results),
    keptFiles: seen.keptFiles,
    cost,
    leftOut: (await leftOut(app.paths.sandboxes, plan, entries)) ?? null,
    validations: validated.results,
    validationSummary: validated.summary,
    obstacle: validated.obstacle ?? null,
    nextSteps: executedNext(plan.id, files.length, validated.obstacle !== undefined),
  };
}

function ownTools({ paths }: App, store: Store): OwnToolSource {
  return new OwnToolSource({ store, accepted: () => new Set(readTrust(paths.dataDir).files) });
}

function executedNext(plan: PlanId, files: number, blocked: boolean): NextStep[] {
  const more = nextStep("plan.prompt", { plan, text: "<what should be different>" });
  if (files === 0) return [more];
  return [
    nextStep("plan.diff", { plan }),
    blocked ? nextStep("plan.revert", { plan }) : nextStep("plan.apply", { plan }),
    more,
  ];
}

async function spendingBefore(app: App, id: PlanId): Promise<Spending> {
  const caps = await app.caps();
  return (await app.store()).read((reader) => planSpending(reader, id, caps));
}

async function strategyReady(app: App, plan: Plan, assessment: Assessment): Promise<z.output<typeof StrategyReady>> {
  const { tree } = await decisionTree(app, plan, {});
  const { confidence, factors, explanation } = assessment;
  return {
    ...planFacts(plan),
    outcome: "strategy",
    ran: false,
    strategy: tree,
    assessment: { confidence, factors: { ...factors }, explanation },
    nextSteps: strategyNext(plan.id),
  };
}

function strategyNext(plan: PlanId): NextStep[] {
  return [nextStep("plan.execute", { plan }), nextStep("plan.prompt", { plan, text: "<guidance>" })];
}

const STEP_ENDS = { step_recorded: "recorded", step_done: "done", step_failed: "failed" } as const;

/** The events that are part of the result. */
class Seen {
  readonly steps: z.output<typeof Executed>["steps"] = [];
  readonly sandboxes: z.output<typeof Executed>["sandboxes"] = [];
  readonly keptFiles: string[] = [];

  on(event: RunEvent): void {
    if (event.type === "sandbox") {
      const { resource, strategy, root: path, ref = null, base = null, dirty: includeDirty, fresh } = event;
      const status = worksInPlace(event) ? "in place" : fresh ? "made" : "resumed";
      // Opened once to decide on the steps and once to carry them out.
      if (this.sandboxes.some((known) => known.resource === resource)) return;
      this.sandboxes.push({ resource, strategy, path, ref, base, includeDirty, status });
    } else if (event.type === "kept_files") {
      this.keptFiles.push(...event.files);
    } else if (event.type === "step_recorded" || event.type === "step_done" || event.type === "step_failed") {
      const durationMs = event.type === "step_recorded" ? 0 : Math.round(event.durationMs);
      this.steps.push({ id: event.step, tool: event.tool ?? null, status: STEP_ENDS[event.type], durationMs });
    }
  }
}
