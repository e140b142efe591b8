/**
 * Models at work on a plan. One conversation decides on the steps and carries them out, as long as they follow one
 * another; steps that run side by side have conversations of their own. The texts for a model are put together in
 * `plan-briefing.ts`; its acts go through `StepEffects`.
 */
import type { Talk } from "../actors/loop/agent-loop.ts";
import { opening, type Briefing } from "../actors/loop/briefing.ts";
import { EXPLORE_TOOL } from "../actors/loop/explorer.ts";
import { controlTools } from "../actors/loop/control-tools.ts";
import { strategize, type DecidedStrategy } from "../actors/loop/strategist.ts";
import { workOn } from "../actors/loop/worker.ts";
import type { PricedModels } from "../actors/models/budgeted-models.ts";
import { ModelError } from "../actors/models/model-error.ts";
import { modelSettings } from "../actors/models/model-settings.ts";
import type { ModelMessage, ModelRef, ModelSettings } from "../actors/models/model.ts";
import { modelOf } from "../actors/providers/actor-model.ts";
import { actorNamed, type ModelActorDefinition, type WorkingActor } from "../catalog/stored-actor.ts";
import { decidedWaves, type DecidedStep, type WorkStep } from "../changes/decided-steps.ts";
import { placedRecords, type Order } from "../changes/step-records.ts";
import { tokenizerNamed, tokenizerOf } from "../context/tokens/tokenizer.ts";
import type { GraphActorDefinition } from "../domain/actor/actor.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { FIXED_STEPS } from "../domain/plan/fixed-steps.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { refusalByList } from "../domain/profile/guards.ts";
import type { Tell } from "../domain/run-event.ts";
import type { StepPlace } from "../execution/steps/step-runner.ts";
import type { Lease } from "../ledger/leases.ts";
import { stepActorsOf } from "../ledger/plan-step-actors.ts";
import { planEffort } from "../ledger/plan-effort.ts";
import { beforeDecision } from "../plans/autonomy.ts";
import { spokenTo } from "../plans/plan-questions.ts";
import type { Store } from "../store/port.ts";
import { sessionOfPlan } from "../store/tables/sessions.ts";
import { beginConversation, type Begun } from "./conversation-beginning.ts";
import { conversationBefore } from "./conversation.ts";
import { earlierAttempts, workSoFar } from "./earlier-attempts.ts";
import { lastWord } from "./last-word.ts";
import { limited } from "./limited-effects.ts";
import { modelTools, nodeTools } from "./model-tools.ts";
import {
  briefedResources,
  contextFor,
  goalOf,
  heardSoFar,
  openingIn,
  planBriefing,
  stepsSeenFrom,
} from "./plan-briefing.ts";
import type { PlanContextService } from "./plan-context-service.ts";
import { sessionBefore, sessionHandover } from "./session-conversation.ts";
import { actorOfStep, stepActorsText } from "./step-actors.ts";
import type { OutsideParts } from "./outside/outside-parts.ts";
import { workOnOutside } from "./outside-step.ts";
import { StepEffects } from "./step-effects.ts";
import { recordWork, rootDecision } from "./tool-strategy.ts";

export interface ThinkingParts {
  readonly store: Store;
  readonly models: PricedModels;
  readonly context: PlanContextService | undefined;
  /** In whose name questions are asked. */
  readonly user: string;
  /** The user's file with instructions for all projects, which need not be there. */
  readonly ownInstructions: string | undefined;
  readonly signal: AbortSignal;
  readonly tell: Tell;
  /** For actors that are agents of other makers. */
  readonly outside: (() => Promise<OutsideParts>) | undefined;
}

/** Under which the questions are recorded that come before there are steps. */
const STRATEGY = "strategy";

/** Calls of a model that a step may take before a person should look at it; budgets end most steps that go astray. */
const CALL_LIMIT = 200;

/** A step that ended so is told to continue with its limits raised, and does not run into the same wall. */
const GIVES_UP: ReadonlySet<string> = new Set(["stuck", "graph_failed", "graph_limit"]);
export class PlanThinking {
  readonly #parts: ThinkingParts;

  constructor(parts: ThinkingParts) {
    this.#parts = parts;
  }

  /** Has the steps decided and records them; what was recorded before a crash is not asked again. */
  async strategize(lease: Lease<"strategize">, actor: ModelActorDefinition, place: StepPlace): Promise<void> {
    const { plan } = lease;
    const root = await rootDecision(lease);
    const { effects, gaveUp } = await this.#effectsFor({ lease, step: STRATEGY, order: [0, 0], place });
    await using context = this.#parts.context?.executing(lease, actor.contextView ?? "strategize");
    const port = context?.port(new Map());
    const resources = await briefedResources(this.#parts.store, plan);
    const before = await sessionBefore(this.#parts.store, plan, modelOf(actor));
    const begun = await beginConversation({
      ...this.#parts,
      effects,
      plan,
      actor,
      place,
      continues: before.continues,
      briefing: async (heard) => ({
        ...planBriefing(plan),
        session: before.text,
        guidance: heard,
        earlier: await earlierAttempts(this.#parts.store, plan),
        steps: [],
        handover: "",
        context: await contextFor({ ...this.#parts, effects, step: STRATEGY, actor, port, query: goalOf(plan) }),
      }),
    });
    const talk = await this.#talk(plan, actor, begun, place);
    const actors = await this.#parts.store.read((reader) => stepActorsOf(reader, plan.id));
    await this.#orGiveUp(plan, effects, gaveUp, async () =>
      strategize(
        {
          talk,
          before: begun.before,
          opening: begun.message,
          wish: `Decide how this is done: ${plan.description}${await stepActorsText(this.#parts.store, actors)}`,
          resources: resources.map(({ alias }) => alias),
          actors,
          readable: place.environment.tools.reading,
          decision: root,
          gaveUp,
          accept: async (strategy) => {
            await this.#letPeopleChoose(lease, strategy);
            return recordWork(lease, strategy, effects.heard);
          },
        },
        effects,
      ),
    );
  }

  /** The nodes of a graph are decided on, and another agent decides at work: the plan has one step, to run it. */
  async strategizeAtOnce(lease: Lease<"strategize">, type: keyof typeof FIXED_STEPS): Promise<void> {
    const decision = await rootDecision(lease);
    const { description } = lease.plan;
    const step = { id: FIXED_STEPS[type], description, needs: [], resources: [], alternatives: [] };
    const unknown = { complexity: "medium", risk: null, confidence: null, rationale: "" } as const;
    await recordWork(lease, { decision, steps: [{ ...step, ...unknown }] });
  }

  /** A step for which there were other ways may be a person's to choose, as the plan's profile says. */
  async #letPeopleChoose(lease: Lease<"strategize">, { steps }: DecidedStrategy): Promise<void> {
    const operation = { kind: "phase", phase: "execute", action: lease.plan.action } as const;
    for (const { id, description, alternatives, risk } of steps) {
      const question = `How is the step "${id}" done?`;
      const step = { risk: risk ?? undefined };
      const choice = { key: `${STRATEGY}/${id}`, question, chosen: description, alternatives, operation, step };
      await beforeDecision(lease, choice, this.#parts.user);
    }
  }

  /** Carries out the steps of a plan that are not single tool calls. */
  worker(lease: Lease<"execute">, actor: WorkingActor): (step: WorkStep, place: StepPlace) => Promise<string> {
    return async (step, place) => {
      if (step.work.answer !== undefined) return step.work.answer;
      const { plan } = lease;
      const { effects, gaveUp } = await this.#effectsFor({ lease, step: step.id, order: place.order, place });
      const parts = { place, effects, gaveUp };
      const own = await actorOfStep(this.#parts.store, plan, step, actor);
      try {
        return await this.#orGiveUp(plan, effects, gaveUp, () => {
          const at = toolsAt(plan, place);
          if (own.type === "acp") return workOnOutside({ ...this.#parts, ...parts, lease, actor: own, step, at });
          return own.type === "graph" ? this.#graph(lease, own, step, parts) : this.#work(lease, own, step, parts);
        });
      } finally {
        await effects.endCommands();
      }
    };
  }

  async #work(
    { plan }: Lease<"execute">,
    actor: ModelActorDefinition,
    step: WorkStep,
    { place, effects, gaveUp }: { place: StepPlace; effects: StepEffects; gaveUp: number },
  ): Promise<string> {
    const { store } = this.#parts;
    const waves = await decidedWaves(store, plan.id, plan.attempt);
    const { messages, ...begun } = await this.#conversation(plan, actor, step, { place, effects, waves });
    const present = waves.findIndex((wave) => wave.some(({ id }) => id === step.id));
    const taken = waves
      .slice(0, present + 1)
      .flat()
      .map(({ id }) => id);
    const talk = await this.#talk(plan, actor, begun, place);
    const { tools } = place.environment;
    const mayWrite = talk.tools.some(({ name }) => tools.get(name)?.writes === true);
    return workOn(
      {
        talk: { ...talk, responseSchema: actor.responseFormat },
        step: step.id,
        description: step.work.description,
        messages,
        decision: step.decision,
        gaveUp,
        calls: CALL_LIMIT,
        readable: tools.reading,
        names: {
          resources: [...place.environment.workspaces.keys()],
          taken,
          actors: await store.read((reader) => stepActorsOf(reader, plan.id)),
        },
        beforeEnd: (key, acts) => lastWord({ store, plan, step: step.id, place, effects, key, acts, mayWrite }),
      },
      effects,
    );
  }

  /** The conversation continues where it can; otherwise it begins with everything that is known. */
  async #conversation(
    plan: Plan,
    actor: ModelActorDefinition,
    step: WorkStep,
    parts: { place: StepPlace; effects: StepEffects; waves: readonly (readonly DecidedStep[])[] },
  ): Promise<{ readonly messages: readonly ModelMessage[] } & Pick<Begun, "system" | "opening">> {
    const { place, effects, waves } = parts;
    const { store } = this.#parts;
    const wish = `Carry out the step "${step.id}": ${step.work.description}`;
    const before = await conversationBefore(store, plan, step.id);
    const same = before?.actor === (step.work.actor ?? plan.actors.execution);
    if (before !== undefined && same && isSameModel(before.model, modelOf(actor))) {
      effects.beginsWith(await heardSoFar(this.#parts.store, plan));
      const opening = await openingIn(store, plan, before.messages);
      return { system: before.system, opening, messages: [...before.messages, { role: "user", content: wish }] };
    }
    const { resources: used } = step.work;
    const port = place.environment.knowledge;
    const query = `${step.work.description}\n${goalOf(plan)}`;
    const begun = await beginConversation({
      ...this.#parts,
      effects,
      plan,
      actor,
      place,
      continues: undefined,
      briefing: async (heard) => ({
        ...planBriefing(plan),
        session: await sessionHandover(store, plan),
        guidance: heard,
        earlier: [],
        steps: await stepsSeenFrom(store, plan, step.id, waves),
        handover: await workSoFar(store, plan),
        context: await contextFor({ ...this.#parts, effects, step: step.id, actor, port, query, resources: used }),
      }),
    });
    return {
      ...begun,
      messages: [begun.message, { role: "user", content: wish }],
    };
  }

  async #graph(
    { plan }: Lease<"execute">,
    actor: GraphActorDefinition,
    step: WorkStep,
    { place, effects, gaveUp }: { place: StepPlace; effects: StepEffects; gaveUp: number },
  ): Promise<string> {
    const { store } = this.#parts;
    const waves = await decidedWaves(store, plan.id, plan.attempt);
    const query = `${step.work.description}\n${goalOf(plan)}`;
    const { knowledge: port } = place.environment;
    const context = await contextFor({
      ...this.#parts,
      effects,
      step: step.id,
      actor,
      port,
      query,
      resources: step.work.resources,
    });
    const briefing: Briefing = {
      ...planBriefing(plan),
      session: await sessionHandover(store, plan),
      guidance: await store.read((reader) => spokenTo(reader, plan)),
      earlier: await earlierAttempts(store, plan),
      steps: await stepsSeenFrom(store, plan, step.id, waves),
      handover: "",
      context,
    };
    const { goal, definitionOfDone, constraints } = briefing;
    const state = { step: step.id, definition_of_done: definitionOfDone, constraints: [...constraints], context };
    const { runGraph } = await import("../actors/graph/run-graph.ts");
    const { output } = await runGraph(
      actor,
      {
        goal: step.id === FIXED_STEPS.graph ? goal : step.work.description,
        state,
        briefing: opening(briefing),
        decision: step.decision,
        key: "graph",
        gaveUp,
      },
      {
        effects: limited(effects, (model) => this.#defaultsOf(model), await this.#effortOf(plan)),
        actorOf: (name) => store.read((reader) => actorNamed(reader, name)),
        modelOf: (one) => modelOf(one),
        toolsFor: (names) => nodeTools(names, toolsAt(plan, place), actor.skills),
      },
    );
    return typeof output === "string" ? output : JSON.stringify(output);
  }

  async #talk(
    plan: Plan,
    actor: ModelActorDefinition,
    { system, opening: kept }: Pick<Begun, "system" | "opening">,
    place: StepPlace,
  ): Promise<Talk> {
    const model = modelOf(actor);
    const { reading } = place.environment.tools;
    const several = (await this.#parts.store.read((reader) => stepActorsOf(reader, plan.id))).length > 0;
    const at = toolsAt(plan, place);
    const tools = actor.type === "graph" ? [] : modelTools(actor.tools, at, model.model, actor.skills);
    return {
      model,
      settings: { ...this.#defaultsOf(model), ...modelSettings(actor.options), ...(await this.#effortOf(plan)) },
      system,
      opening: kept,
      tools: [
        ...tools,
        ...(tools.some(({ name }) => reading.has(name)) ? [EXPLORE_TOOL] : []),
        ...controlTools(several),
      ],
      memory: actor.type === "graph" ? {} : actor.memory,
      responseSchema: undefined,
      window: this.#parts.models.windowOf(model),
      count: (text: string) => tokenizerNamed(tokenizerOf(model.model))(text),
    };
  }

  /** An answer has a limit: without one, the cost of a call would have no bound. */
  #defaultsOf(model: ModelRef): ModelSettings {
    return { maxOutputTokens: this.#parts.models.outputTokensOf(model) };
  }

  async #effortOf({ id }: Plan): Promise<ModelSettings> {
    const reasoning = await this.#parts.store.read((reader) => planEffort(reader, id));
    return reasoning === undefined ? {} : { reasoning };
  }

  async #effectsFor(parts: {
    lease: Lease;
    step: string;
    order: Order;
    place: StepPlace;
  }): Promise<{ effects: StepEffects; gaveUp: number }> {
    const { store, models, signal, tell, user } = this.#parts;
    const { lease, step } = parts;
    const all = await store.read((reader) => placedRecords(reader, lease.planId, lease.plan.attempt, lease.phase));
    const session = (await store.read((reader) => sessionOfPlan(reader, lease.planId)))?.id;
    const own = all.filter(({ id }) => id.startsWith(`${step}/`));
    const recorded = Math.max(0, ...own.map(({ order }) => order.at(-1) ?? 0));
    const gaveUp = own.filter(({ kind }) => kind === "gave_up").length;
    const both = AbortSignal.any([signal, lease.signal]);
    const effects = new StepEffects({ ...parts, recorded, models, signal: both, tell, heard: 0, user, session });
    return { effects, gaveUp };
  }

  /** That it gave up is recorded: told to continue, it does so from there and not into the same wall. */
  async #orGiveUp<T>(plan: Plan, effects: StepEffects, gaveUp: number, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof ModelError) throw error.goingOn(nextStep("plan.execute", { plan: plan.id }));
      if (!(error instanceof AgentsError && GIVES_UP.has(error.code))) throw error;
      await effects.recorded("gave_up", String(gaveUp + 1), () => Promise.resolve(error.message));
      const { code, message, kept, detail, next } = error;
      throw new AgentsError(code, message, {
        ...(kept === undefined ? {} : { kept }),
        next: [
          ...next,
          nextStep("plan.execute", { plan: plan.id }),
          nextStep("plan.tree", { plan: plan.id }),
          nextStep("plan.revert", { plan: plan.id }),
        ],
        detail,
      });
    }
  }
}

/** The same tools while the strategy is decided, when most of them are refused, and later. */
function toolsAt(plan: Plan, { environment }: StepPlace): Parameters<typeof modelTools>[1] {
  const { workspaces, tools } = environment;
  const inPlace = [...workspaces.values()].some(({ worksInPlace }) => worksInPlace);
  const network = plan.profile.network === "on";
  const commands = refusalByList(plan.profile.guards, "shell_execute") === undefined;
  return { tools, resources: [...workspaces.keys()], readOnly: plan.readOnly, inPlace, network, commands };
}

function isSameModel(a: ModelRef, b: ModelRef): boolean {
  return a.provider === b.provider && a.model === b.model;
}
