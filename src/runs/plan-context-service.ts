import { indexFileFor } from "../code-index/index/index-database.ts";
import { indexStatus } from "../code-index/index/index-status.ts";
import type { ContextQuestion } from "../domain/context/context-question.ts";
import { resolveView, type ContextView, type ResolvedView } from "../domain/context/context-policy.ts";
import { ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { QualifiedName } from "../domain/names/qualified-name.ts";
import { suggested } from "../domain/definition/checked-schema.ts";
import { shown } from "../domain/text/text.ts";
import type { AssembledAnswer, BudgetAnswer, ContextLimits, ContextPort } from "../execution/tools/context-port.ts";
import type { Workspace } from "../execution/workspace/workspace.ts";
import type { Budget } from "../ledger/budgets.ts";
import type { Lease } from "../ledger/leases.ts";
import { findContextPolicy } from "../store/tables/context-policies.ts";
import { findPlanStages } from "../store/tables/plan-stages.ts";
import type { Store } from "../store/port.ts";
import type { ContextConfiguration } from "../context/front/context-configuration.ts";
import type { ContextPlace } from "../context/front/context-places.ts";
import { budgetFor } from "../context/front/assembly-budget.ts";
import type { ContextResult, ContextService } from "../context/front/context-service.ts";
import { contextTokensUsed, planHistory, planKnowledge } from "./plan-knowledge.ts";
import { resourcePlaces } from "../catalog/project-context.ts";

/** Where the context of a plan is taken from, and within which limits. */
export interface PlanSource {
  readonly places: readonly ContextPlace[];
  readonly view: ResolvedView;
}

/** The part of `plan use`'s output about the plan's context. */
export interface PlanContextSummary {
  readonly resources: readonly string[];
  /** Undefined when one of them has never been indexed. */
  readonly indexedFiles: number | undefined;
  readonly view: ContextView;
  readonly budget: number;
}

/**
 * Context of plans: the resources of the plan's projects under their aliases, each through its own project's view;
 * while the plan executes, its sandboxes as they are at that moment. Settings are those of the plan's first project.
 */
export class PlanContextService {
  readonly #store: Store;
  readonly #dataDir: string;
  readonly #configuration: (project: QualifiedName | undefined) => Promise<ContextConfiguration>;
  readonly #budgetFor: (lease: Lease) => Promise<Budget>;

  constructor(parts: {
    store: Store;
    dataDir: string;
    configuration: (project: QualifiedName | undefined) => Promise<ContextConfiguration>;
    budget: (lease: Lease) => Promise<Budget>;
  }) {
    this.#store = parts.store;
    this.#budgetFor = parts.budget;
    this.#dataDir = parts.dataDir;
    this.#configuration = parts.configuration;
  }

  async sourceOf(
    plan: Plan,
    view: ContextView,
    workspaces: ReadonlyMap<string, Workspace> = new Map(),
  ): Promise<PlanSource> {
    return this.#store.read(async (reader) => {
      const places: ContextPlace[] = [];
      const views: ResolvedView[] = [];
      for (const { project } of plan.projects) {
        const policy = await findContextPolicy(reader, project);
        views.push(resolveView(policy, view));
        for (const place of await resourcePlaces(reader, project, policy, view)) {
          places.push({ ...place, sandbox: sandboxOf(plan, place.resource, workspaces) });
        }
      }
      return { places, view: tightest(views, view) };
    });
  }

  /** Without reading any file. */
  async summaryOf(plan: Plan): Promise<PlanContextSummary> {
    const view = viewOf(plan);
    const { places, view: resolved } = await this.sourceOf(plan, view);
    const counts = places.map(({ root }) => this.#filesIndexed(root));
    const configuration = await this.#configuration(plan.projects[0]?.project);
    return {
      resources: places.map(({ resource }) => resource),
      indexedFiles: counts.includes(undefined) ? undefined : counts.reduce((sum: number, one) => sum + (one ?? 0), 0),
      view,
      budget: budgetFor(configuration, resolved, undefined).budget.available,
    };
  }

  /** A directory that does not exist any more has no index either. */
  #filesIndexed(root: string): number | undefined {
    try {
      const status = indexStatus(indexFileFor(this.#dataDir, root));
      return status.is === "indexed" ? status.files : undefined;
    } catch {
      return undefined;
    }
  }

  /** The context port of a plan that is being executed; nothing is started before the first question. */
  executing(lease: Lease, view: ContextView = "execute"): ExecutingContext {
    const { plan } = lease;
    let service: Promise<ContextService> | undefined;
    const open = async (): Promise<ContextService> => {
      const configuration = await this.#configuration(plan.projects[0]?.project);
      // Most plans never ask, and need not wait for strategies and parsers to be loaded.
      const { ContextService } = await import("../context/front/context-service.ts");
      const budget = await this.#budgetFor(lease);
      return new ContextService({ store: this.#store, dataDir: this.#dataDir, configuration, budget });
    };
    return {
      port: (workspaces) => ({
        requestContext: async (question, limits, signal) => {
          service ??= open();
          return this.#answer(await service, { plan, view, workspaces }, { question, limits, signal });
        },
        queryHistory: (question) => planHistory(this.#store, plan, question),
        contextBudget: () => this.#budget(plan),
      }),
      [Symbol.asyncDispose]: async () => (await service)?.[Symbol.asyncDispose](),
    };
  }

  async #answer(
    service: ContextService,
    {
      plan,
      view: viewName,
      workspaces,
    }: { readonly plan: Plan; readonly view: ContextView; readonly workspaces: ReadonlyMap<string, Workspace> },
    { question, limits, signal }: { question: ContextQuestion; limits: ContextLimits; signal: AbortSignal },
  ): Promise<AssembledAnswer> {
    const { places, view } = await this.sourceOf(plan, viewName, workspaces);
    const within = chosen(places, limits.resources);
    const { available } = budgetFor(await this.#configuration(plan.projects[0]?.project), view, undefined).budget;
    const result = await service.assemble({
      project: plan.projects[0]?.project ?? plan.id,
      places: within,
      view,
      question,
      plan: await planKnowledge(this.#store, plan),
      stages: await this.#store.read(async (reader) => Object.fromEntries(await findPlanStages(reader, plan.id))),
      budget: limits.budget === undefined ? undefined : Math.min(limits.budget, available),
      signal,
    });
    return answerData(result);
  }

  async #budget(plan: Plan): Promise<BudgetAnswer> {
    const { view } = await this.sourceOf(plan, "execute");
    const configuration = await this.#configuration(plan.projects[0]?.project);
    const { budget, source } = budgetFor(configuration, view, undefined);
    const { modelWindow, responseReserve, toolDefinitions, systemPrompt, available } = budget;
    return {
      max: modelWindow,
      reserved: responseReserve + toolDefinitions + systemPrompt,
      response_reserve: responseReserve,
      tool_definitions: toolDefinitions,
      system_prompt: systemPrompt,
      available,
      source,
      view: view.view,
      used: await contextTokensUsed(this.#store, plan),
    };
  }
}

/** Ended with the execution. */
export interface ExecutingContext extends AsyncDisposable {
  readonly port: (workspaces: ReadonlyMap<string, Workspace>) => ContextPort;
}

/** In apply no model is asked; a look at the plan's context then shows what its last phase saw. */
function viewOf({ phase }: Plan): ContextView {
  return phase === "apply" ? "execute" : phase;
}

function sandboxOf(plan: Plan, alias: string, workspaces: ReadonlyMap<string, Workspace>): ContextPlace["sandbox"] {
  const workspace = workspaces.get(alias);
  if (workspace === undefined) return undefined;
  return { name: `${plan.id}/${plan.attempt}/${alias}`, reading: (look) => workspace.reading(look) };
}

/** Of several projects the strictest limit counts, and only strategies that all of them allow. */
function tightest(views: readonly ResolvedView[], view: ContextView): ResolvedView {
  const [first = resolveView({}, view), ...others] = views;
  const least = (a: number | undefined, b: number | undefined): number | undefined =>
    a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
  return others.reduce(
    (sum, one) => ({
      ...sum,
      maxTotalSize: least(sum.maxTotalSize, one.maxTotalSize),
      maxFiles: least(sum.maxFiles, one.maxFiles),
      budget: least(sum.budget, one.budget),
      strategies:
        sum.strategies === undefined || one.strategies === undefined
          ? (sum.strategies ?? one.strategies)
          : sum.strategies.filter((name) => one.strategies?.includes(name)),
    }),
    first,
  );
}

function chosen(places: readonly ContextPlace[], resources: readonly string[] | undefined): readonly ContextPlace[] {
  const known = places.map(({ resource }) => resource);
  const issues = (resources ?? []).flatMap((alias): ValidationIssue[] => {
    if (known.includes(alias)) return [];
    const message = `The plan has no resource ${shown(alias)} (it has: ${known.join(", ") || "none"}).`;
    return [{ path: "resource", message, ...suggested(alias, known) }];
  });
  const [issue] = issues;
  if (issue !== undefined) throw new ValidationError(issue.message, issues);
  return resources === undefined ? places : places.filter(({ resource }) => resources.includes(resource));
}

function answerData({ assembled, indexed }: ContextResult): AssembledAnswer {
  const { text, tokens, hash, tokenizer, budget, fragments, excluded, gaps, strategies } = assembled;
  return {
    text,
    tokens,
    context_hash: hash,
    tokenizer,
    budget: budget.available,
    files_indexed: indexed.reduce((sum, { result }) => sum + result.files, 0),
    strategies: strategies.map(({ name }) => name),
    fragments: fragments.map((fragment) => ({
      entity: fragment.entity,
      depth: fragment.level,
      tokens: fragment.tokens,
      strategies: [...fragment.strategies],
      reason: fragment.reason,
    })),
    excluded: excluded.length,
    gaps: gaps.map(({ kind, name, reason }) => ({ kind, name, reason })),
  };
}
