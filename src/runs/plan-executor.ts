import type { ReadPage } from "../platform/web-page.ts";
import type { DataDirectory } from "../platform/data-directory.ts";
import { worksInPlace } from "../domain/resource/resource.ts";
import { tellNothing, type Tell } from "../domain/run-event.ts";
import type { AttachedValidation } from "../domain/validation/attachment.ts";
import { FILE_EFFECTS, type FileEffects } from "../apply/file-effects.ts";
import { lockPlaces } from "../apply/prepare-landings.ts";
import { withResourceLocks } from "../apply/resource-locks.ts";
import { StepLander } from "../apply/step-landing.ts";
import { ConfigurationError, PlanError } from "../domain/errors/errors.ts";
import type { QualifiedName } from "../domain/names/qualified-name.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { Assessment } from "../domain/plan/confidence.ts";
import { monotonicIds, type PlanId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { statusKey } from "../domain/plan/transitions.ts";
import type { ActorDefinition } from "../domain/actor/actor.ts";
import { decidedWaves } from "../changes/decided-steps.ts";
import { requireGit } from "../git/git.ts";
import { openForReading, runToolSteps, type OpenSteps } from "../execution/steps/step-runner.ts";
import type { DecidedStep } from "../changes/decided-steps.ts";
import { notInPlaceError } from "../execution/sandbox/in-place-sandbox.ts";
import type { MadeSandboxes } from "../execution/steps/open-workspaces.ts";
import type { LandStep } from "../execution/workspace/pending-changes.ts";
import type { ToolSet } from "../execution/tools/tool-set.ts";
import type { ToolSource } from "../execution/tools/tool-source.ts";
import { isVersioned } from "../execution/sandbox/sandbox-facts.ts";
import type { SandboxTarget } from "../execution/sandbox/sandbox.ts";
import { findDecisions } from "../ledger/decisions.ts";
import type { Lease } from "../ledger/leases.ts";
import { stepActorsOf } from "../ledger/plan-step-actors.ts";
import type { Store } from "../store/port.ts";
import { attachedValidations } from "../store/tables/validations.ts";
import { afterStrategy, cameToGate } from "../plans/autonomy.ts";
import { planResources, requireNotUndone, requireSandboxes, stoppedInPlaceError } from "../plans/in-place-rules.ts";
import type { PlanContextService } from "./plan-context-service.ts";
import type { PlanLifecycleService, StartOptions } from "../plans/plan-lifecycle-service.ts";
import type { PricedModels } from "../actors/models/budgeted-models.ts";
import { actorNamed, requireModel, requireWorker, type WorkingActor } from "../catalog/stored-actor.ts";
import type { OutsideParts } from "./outside/outside-parts.ts";
import type { PlanThinking } from "./plan-thinking.ts";
import { interruptedError, newsOf, riskOf } from "./decided-news.ts";
import { isByModel } from "../plans/revise-strategy.ts";
import { requireVersion } from "../plans/transition.ts";
import { checkAndMend } from "./check-and-mend.ts";
import { failureOf, isFailure } from "./plan-failure.ts";
import { requireConfinedCommands } from "./plan-confinement.ts";
import { CodeSyntax } from "./code-syntax.ts";
import { planTargets } from "./plan-targets.ts";
import { planTools, type PlanTools } from "./plan-tools.ts";
import { chosenSteps, recordStrategy } from "./tool-strategy.ts";

export interface ExecuteOptions extends StartOptions {
  /** Ends the run cleanly: what is recorded stays, and the plan can be taken up again at once. */
  readonly signal?: AbortSignal;
  /** False: the repositories' own hooks are skipped. */
  readonly verify?: boolean;
  /** Told of everything that happens on the way, models and their tools included. */
  readonly tell?: Tell;
  /**
   * New sandboxes of git checkouts also start from uncommitted changes; an existing one keeps the base it was made
   * from.
   */
  readonly includeDirty?: boolean;
  /** The version of the plan whose strategy was agreed to: one that has changed since is refused. */
  readonly seenVersion?: number | undefined;
}

type WithTools = ExecuteOptions & { readonly tools: PlanTools };

/** An apply takes moments and is waited for; a plan that works in place may take hours. */
const IN_PLACE_PATIENCE_MS = 5_000;

/** The models of the lease's plan, within its budget. */
type ModelsOf = (lease: Lease, tell: Tell) => Promise<PricedModels>;

export interface Executed {
  readonly plan: Plan;
  /** False when the plan had been executed before: then nothing was done. */
  readonly ran: boolean;
  /** Why the plan stopped after strategize, for the user to look at it; the next call continues. */
  readonly stopped?: Assessment;
}

/**
 * Carries a plan from where it is to execute/complete. The steps of a tool actor are the strategy: strategizing records
 * them as decisions, and executing runs those decisions, even if the actor changes in the meantime. Called again after
 * a crash or an error it continues after the recorded steps; called on an executed plan it does nothing; called by two
 * processes at once it runs once, and the other process gets an error.
 */
export class PlanExecutor {
  readonly #store: Store;
  readonly #service: PlanLifecycleService;
  readonly #data: DataDirectory;
  readonly #context: PlanContextService | undefined;
  readonly #fileEffects: FileEffects;
  readonly #models: ModelsOf | undefined;
  readonly #ownInstructions: string | undefined;
  readonly #web: ReadPage | undefined;
  readonly #outside: (() => Promise<OutsideParts>) | undefined;
  readonly #sources: readonly ToolSource[];

  /**
   * `context` answers the steps' questions about their plan. `models` are asked in plans that need it, within the
   * budget of the lease's plan. `ownInstructions` is the user's file with instructions for all projects. `web`
   * reads pages for plans that may use the network. `sources` have the tools that are not built in. `outside` is
   * needed by plans whose actor is an outside agent.
   */
  constructor(parts: {
    store: Store;
    service: PlanLifecycleService;
    data: DataDirectory;
    context?: PlanContextService | undefined;
    fileEffects?: FileEffects;
    models?: ModelsOf | undefined;
    ownInstructions?: string | undefined;
    web?: ReadPage | undefined;
    sources?: readonly ToolSource[];
    outside?: (() => Promise<OutsideParts>) | undefined;
  }) {
    this.#outside = parts.outside;
    this.#sources = parts.sources ?? [];
    this.#web = parts.web;
    this.#ownInstructions = parts.ownInstructions;
    this.#models = parts.models;
    this.#context = parts.context;
    this.#fileEffects = parts.fileEffects ?? FILE_EFFECTS;
    this.#store = parts.store;
    this.#service = parts.service;
    this.#data = parts.data;
  }

  async execute(planId: PlanId, options: ExecuteOptions = {}): Promise<Executed> {
    const plan = await this.#service.getPlan(planId);
    requireVersion(plan, options.seenVersion);
    if (statusKey(plan) === "execute/complete" || plan.phase === "apply") return { plan, ran: false };
    const targets = await planTargets(this.#store, plan, options);
    const inPlace = targets.filter(worksInPlace);
    if (inPlace.length === 0) return this.#run(plan, targets, options);
    // From the first look on, no other plan's landing may come in between.
    const places = await lockPlaces(inPlace.map(({ path, strategy }) => ({ path, strategy, baseCommit: undefined })));
    const run = async (): Promise<Executed> => {
      const now = await this.#service.getPlan(planId);
      requireNotUndone(now);
      return this.#run(now, targets, options);
    };
    const patienceMs = IN_PLACE_PATIENCE_MS;
    return withResourceLocks(this.#data.locks, places, run, { patienceMs });
  }

  async #run(plan: Plan, targets: readonly SandboxTarget[], options: ExecuteOptions): Promise<Executed> {
    const { id: planId } = plan;
    const inPlace = targets.filter(worksInPlace);
    const validations = await this.#store.read(async (reader) => {
      const attached = await attachedValidations(reader, plan);
      requireSandboxes(plan, await planResources(reader, plan), attached, "Nothing was changed.");
      return attached;
    });
    // Without it nothing can be done, and the plan stays as it is.
    if (targets.some(isVersioned)) await requireGit();
    const { verify = true } = options;
    const tools = await this.#toolsOf(plan);
    const known = { targets, validations, verify, tools: tools.set };
    await requireConfinedCommands(plan, { ...known, steps: () => this.#knownSteps(plan) });
    const { stopped, made } = await this.#queue(plan, targets, { ...options, tools });
    if (stopped !== undefined) return { plan: await this.#service.getPlan(planId), ran: false, stopped };
    const waves = await this.#decided(plan);
    const before = plan.phase !== "strategize" || plan.state === "complete";
    options.tell?.({ type: "decided", before, steps: waves.flat().map(newsOf) });
    requireNoneCompared(waves, tools.set, inPlace);
    const actor = await this.#thinkerFor(plan, waves);
    const lease = await this.#service.startExecute(planId, options);
    const { signal = new AbortController().signal, tell = tellNothing } = options;
    await using context = this.#context?.executing(lease, actor?.contextView ?? "execute");
    using syntax = new CodeSyntax();
    const others: unknown[] = [];
    try {
      await tools.fix(lease);
      const thinking = actor === undefined ? undefined : await this.#think(lease, options);
      await using opened = await runToolSteps({
        lease,
        directory: this.#data.sandboxes,
        targets,
        made,
        waves,
        tools: tools.set,
        revisedWaves: () => this.#decided(plan),
        ...(actor === undefined || thinking === undefined ? {} : { work: thinking.worker(lease, actor) }),
        knowledge: context?.port,
        web: this.#web,
        syntax: syntax.check,
        signal,
        tell,
        ...(inPlace.length === 0 ? {} : { landStep: this.#lander(lease, options) }),
        onOtherFailures: (errors) => others.push(...errors),
      });
      await this.#check(lease, opened, validations, { ...options, mends: thinking !== undefined });
      return { plan: await this.#service.completeExecute(lease), ran: true };
    } catch (error) {
      // A plan that asks has given its lease up and waits.
      if (!isFailure(error)) throw error;
      if (signal.aborted) {
        await lease.release();
        throw await stoppedInPlaceError(this.#store, interruptedError(plan), plan);
      }
      await this.#service.failExecute(lease, failureOf(error), others.filter(isFailure).map(failureOf));
      throw await stoppedInPlaceError(this.#store, error, plan);
    }
  }

  #lander(lease: Lease<"execute">, { tell = tellNothing }: ExecuteOptions): LandStep {
    const parts = { store: this.#store, lease, effects: this.#fileEffects, ids: monotonicIds(), tell };
    const lander = new StepLander(parts);
    return (step) => lander.land(step);
  }

  async #check(
    lease: Lease<"execute">,
    steps: OpenSteps,
    validations: readonly AttachedValidation[],
    options: ExecuteOptions & { readonly mends: boolean },
  ): Promise<void> {
    const signal = AbortSignal.any([lease.signal, ...(options.signal === undefined ? [] : [options.signal])]);
    const { verify = true, tell = tellNothing, mends } = options;
    await checkAndMend({ lease, steps, validations, verify, signal, tell, mends });
  }

  /** Up to execute/queued, or to where a lease on it lapsed; or no further than a gate in between: then why. */
  async #queue(
    plan: Plan,
    targets: readonly SandboxTarget[],
    options: WithTools,
  ): Promise<{ readonly stopped?: Assessment; readonly made?: MadeSandboxes | undefined }> {
    let made: MadeSandboxes | undefined;
    let expectedVersion: number | undefined;
    if (plan.phase === "strategize") {
      // Guidance that came since the strategy was shown is an answer to it.
      const revised = plan.state === "complete" ? await this.#service.reviseStrategy(plan.id) : undefined;
      const known = plan.state === "complete" && revised === undefined;
      if (known) expectedVersion = options.seenVersion;
      else made = await this.#strategize(plan, targets, options);
      // A second `plan execute` comes from a person who has seen the strategy, and is the yes to it.
      const stopped = known && (await this.#cameToGate(plan)) ? undefined : await this.#gate(plan, options);
      if (stopped !== undefined) return { stopped };
    }
    if (plan.phase === "strategize" || plan.state === "errored")
      await this.#service.executePlan(plan.id, { expectedVersion });
    return { made };
  }

  async #cameToGate(plan: Plan): Promise<boolean> {
    const last = (await this.#decided(plan)).flat().at(-1);
    return last !== undefined && cameToGate(this.#store, plan, last.decision);
  }

  async #gate(plan: Plan, options: ExecuteOptions): Promise<Assessment | undefined> {
    const decisions = await this.#store.read((reader) => findDecisions(reader, plan.id, plan.attempt));
    const byModel = isByModel(decisions);
    const decided = (await this.#decided(plan)).flat();
    const steps = decided.map((step) => ({ tool: step.tool, risk: riskOf(step) }));
    const gate = await afterStrategy(this.#store, plan, { byModel, steps, decision: decided.at(-1)?.decision });
    if (gate.go) return undefined;
    options.tell?.({ type: "decided", before: false, steps: decided.map(newsOf) });
    return gate.assessment;
  }

  /** The steps of a tool actor or a graph are in its file, and an outside agent decides at work; else a model does. */
  async #strategize(
    plan: Plan,
    targets: readonly SandboxTarget[],
    options: WithTools,
  ): Promise<MadeSandboxes | undefined> {
    const actor = await this.#actorOf(plan, "execution");
    if (actor.type === "tool") {
      const steps = chosenSteps(actor, plan);
      await using lease = await this.#service.startStrategize(plan.id, options);
      await recordStrategy(lease, steps);
      await this.#service.completeStrategize(lease);
      return undefined;
    }
    const named = plan.actors.strategy === undefined ? undefined : await this.#actorOf(plan, "strategy");
    const fixed = named === undefined && actor.type !== "llm" ? actor.type : undefined;
    const strategist = fixed === undefined ? requireModel(named ?? actor) : undefined;
    this.#requireModels();
    const { signal } = options;
    await using lease = await this.#service.startStrategize(plan.id, options);
    try {
      await options.tools.fix(lease);
      const thinking = await this.#think(lease, options);
      const made =
        strategist === undefined ? undefined : await this.#decide(lease, thinking, { strategist, targets, options });
      if (fixed !== undefined) await thinking.strategizeAtOnce(lease, fixed);
      await this.#service.completeStrategize(lease);
      return made;
    } catch (error) {
      if (!isFailure(error)) throw error;
      if (signal?.aborted === true) throw interruptedError(plan);
      await this.#service.failStrategize(lease, failureOf(error));
      throw error;
    }
  }

  async #decide(
    lease: Lease<"strategize">,
    thinking: PlanThinking,
    parts: { strategist: ReturnType<typeof requireModel>; targets: readonly SandboxTarget[]; options: WithTools },
  ): Promise<MadeSandboxes> {
    const { strategist, targets, options } = parts;
    const { signal = new AbortController().signal, tell = tellNothing } = options;
    await using context = this.#context?.executing(lease, strategist.contextView ?? "strategize");
    const looking = {
      directory: this.#data.sandboxes,
      targets,
      tools: options.tools.set,
      knowledge: context?.port,
      web: this.#web,
      signal,
      tell,
    };
    await using opened = await openForReading({ lease, ...looking });
    await thinking.strategize(lease, strategist, opened.place);
    return opened.made;
  }

  /** The actor that carries out the steps that are not single tool calls, if there are any. */
  async #thinkerFor(plan: Plan, waves: readonly (readonly DecidedStep[])[]): Promise<WorkingActor | undefined> {
    if (waves.flat().every(({ tool }) => tool !== undefined)) return undefined;
    this.#requireModels();
    return requireWorker(await this.#actorOf(plan, "execution"));
  }

  async #toolsOf(plan: Plan): Promise<PlanTools> {
    const decided = (await decidedWaves(this.#store, plan.id, plan.attempt)).flat();
    const calls = decided.flatMap(({ tool }) => tool ?? []);
    const roles = plan.actors.strategy === undefined ? (["execution"] as const) : (["execution", "strategy"] as const);
    const others = await this.#store.read((reader) => stepActorsOf(reader, plan.id));
    const named = (name: QualifiedName): Promise<ActorDefinition> => this.#store.read((one) => actorNamed(one, name));
    const actors = (): Promise<ActorDefinition[]> =>
      Promise.all([...roles.map((role) => this.#actorOf(plan, role)), ...others.map(named)]);
    const fixed = decided.length > 0 && calls.length === decided.length;
    return planTools({ store: this.#store, sources: this.#sources }, plan, fixed ? calls : await actors());
  }

  #requireModels(): ModelsOf {
    if (this.#models !== undefined) return this.#models;
    throw new ConfigurationError("The plan needs a model, and there is none here.", { kept: "Nothing was changed." });
  }

  async #think(lease: Lease, { signal, tell = tellNothing }: ExecuteOptions): Promise<PlanThinking> {
    // Plans of tool actors need none of it.
    const { PlanThinking } = await import("./plan-thinking.ts");
    return new PlanThinking({
      store: this.#store,
      models: await this.#requireModels()(lease, tell),
      context: this.#context,
      user: this.#service.user,
      ownInstructions: this.#ownInstructions,
      signal: signal ?? new AbortController().signal,
      tell,
      outside: this.#outside,
    });
  }

  /** The steps that are known before a model is asked. */
  async #knownSteps(plan: Plan): Promise<{ readonly id: string; readonly tool: string | undefined }[]> {
    const decided = await decidedWaves(this.#store, plan.id, plan.attempt);
    if (decided.length > 0) return decided.flat();
    const actor = await this.#actorOf(plan, "execution");
    return actor.type === "tool" ? actor.steps.map(({ id, tool }) => ({ id, tool })) : [];
  }

  async #decided(plan: Plan): Promise<DecidedStep[][]> {
    const waves = await decidedWaves(this.#store, plan.id, plan.attempt);
    if (waves.length > 0) return waves;
    throw new PlanError(`Nothing was decided in attempt ${plan.attempt} of plan ${plan.id} that could be executed.`, {
      kept: "Nothing was changed in its sandboxes.",
      next: [nextStep("plan.revert", { plan: plan.id })],
    });
  }

  async #actorOf(plan: Plan, role: "strategy" | "execution"): Promise<ActorDefinition> {
    const name = plan.actors[role];
    if (name === undefined) throw new Error(`the plan ${plan.id} has no ${role} actor`);
    return this.#store.read((reader) => actorNamed(reader, name));
  }
}

/** Found out on the way it would leave the steps before it in the user's files. */
function requireNoneCompared(
  waves: readonly (readonly DecidedStep[])[],
  tools: ToolSet,
  [place]: readonly SandboxTarget[],
): void {
  const compared = waves.flat().find(({ tool = "" }) => tools.get(tool)?.compared === true);
  if (compared !== undefined && place !== undefined) throw notInPlaceError(`The step "${compared.id}"`, place);
}
