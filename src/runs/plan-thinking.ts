import { DEFAULT_BREADTH, DEFAULT_DEPTH } from "../domain/context/context-question.ts";
import { briefed, type BriefedStep, type Briefing } from "../actors/loop/briefing.ts";
import type { ActorHands } from "../actors/loop/actor-effects.ts";
import { ModelError } from "../actors/models/model-error.ts";
import type { ModelRef, ModelSettings } from "../actors/models/model.ts";
import { modelOf } from "../actors/providers/actor-model.ts";
import { STRATEGIST_ROLE, strategize, type Strategy } from "../actors/loop/strategist.ts";
import { WORKER_ROLE, workOn } from "../actors/loop/worker.ts";
import { tokenizerNamed, tokenizerOf } from "../context/tokens/tokenizer.ts";
import type { GraphActorDefinition } from "../domain/actor/actor.ts";
import { argumentText } from "../domain/action/arguments.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/next-step.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { ContextPort } from "../execution/tools/context-port.ts";
import { placedRecords, stepSummaries, type Order } from "../changes/step-records.ts";
import type { DecidedStep, WorkStep } from "../changes/decided-steps.ts";
import type { StepPlace } from "../execution/steps/step-runner.ts";
import type { Lease } from "../ledger/leases.ts";
import type { Store } from "../store/port.ts";
import type { PricedModels } from "../actors/models/budgeted-models.ts";
import { StepHands } from "./step-effects.ts";
import { actorNamed, type ModelActorDefinition } from "../catalog/stored-actor.ts";
import { beforeDecision } from "../plans/autonomy.ts";
import { guidanceOf } from "../plans/plan-questions.ts";
import { planResources } from "../plans/in-place-rules.ts";
import { modelTools } from "./model-tools.ts";
import type { PlanContextService } from "./plan-context-service.ts";
import type { Tell } from "../domain/run-event.ts";
import { recordWork, rootDecision } from "./tool-strategy.ts";

export interface ThinkingParts {
  readonly store: Store;
  readonly models: PricedModels;
  readonly context: PlanContextService | undefined;
  /** In whose name questions are asked. */
  readonly user: string;
  readonly signal: AbortSignal;
  readonly tell: Tell;
}

/** Under which the questions are recorded that come before there are steps. */
const STRATEGY = "strategy";
/** The one step of a plan whose graph is its strategy. */
const GRAPH_STEP = "run-graph";

/** Of what a model can read at most: the rest is for the conversation, the tools and the answer. */
const CONTEXT_SHARE = 4;

/** Tokens. Every call of a step carries its context again and pays for it; a model that needs more can ask for it by a tool. */
const CONTEXT_LIMIT = 32_000;

/** A step that ended so is told to go on with its limits raised, and does not run into the same wall. */
const GIVES_UP: ReadonlySet<string> = new Set(["stuck", "graph_failed", "graph_limit"]);

/**
 * Models at work on a plan: one decides on its steps, one carries them out. What they are shown is put together here; what they do goes
 * through `StepHands`.
 */
export class PlanThinking {
  readonly #parts: ThinkingParts;

  constructor(parts: ThinkingParts) {
    this.#parts = parts;
  }

  /** Has the steps decided on and records them; what was recorded before a crash is not asked again. */
  async strategize(lease: Lease<"strategize">, actor: ModelActorDefinition): Promise<void> {
    const { plan } = lease;
    const root = await rootDecision(lease);
    const { hands, gaveUp } = await this.#handsFor({ lease, step: STRATEGY, order: [0, 0], place: undefined });
    const model = modelOf(actor);
    await using context = this.#parts.context?.executing(lease, actor.contextView ?? "strategize");
    const resources = await this.#resourcesOf(plan);
    const port = context?.port(new Map());
    const shown = await this.#contextFor({ hands, step: STRATEGY, model, port, query: goalOf(plan) });
    const names = resources.map(({ alias }) => alias);
    const wish = {
      goal: plan.description,
      model,
      settings: settingsOf(actor),
      resources: names,
      decision: root,
      gaveUp,
    };
    for (;;) {
      const guidance = await this.#guidanceOf(plan);
      const briefing: Briefing = { ...planBriefing(plan), resources, guidance, steps: [], context: shown };
      const system = briefed(STRATEGIST_ROLE, actor.systemPrompt, briefing);
      // Guidance that came since a strategy was made is heard: the strategy is made anew, under a key of its own.
      const heard = guidance.length === 0 ? hands : below(hands, `after-${guidance.length}`);
      const strategy = await this.#orGiveUp(plan, hands, gaveUp, () => strategize({ ...wish, system }, heard));
      await this.#letPeopleChoose(lease, strategy);
      if (await recordWork(lease, strategy, guidance.length)) return;
    }
  }

  /** The steps of a graph are its nodes, which its author has decided on: the plan has one step, to run it. */
  async strategizeGraph(lease: Lease<"strategize">): Promise<void> {
    const decision = await rootDecision(lease);
    const step = { id: GRAPH_STEP, description: lease.plan.description, needs: [], resources: [], alternatives: [] };
    const unknown = { complexity: "medium", risk: null, confidence: null, rationale: "" } as const;
    await recordWork(lease, { decision, steps: [{ ...step, ...unknown }] });
  }

  /** A step for which there were other ways may be a person's to choose, as the plan's profile says. */
  async #letPeopleChoose(lease: Lease<"strategize">, { steps }: Strategy): Promise<void> {
    const operation = { kind: "phase", phase: "execute", action: lease.plan.action } as const;
    for (const { id, description, alternatives, risk } of steps) {
      const question = `How is the step "${id}" done?`;
      const step = { risk: risk ?? undefined };
      const choice = { key: `${STRATEGY}/${id}`, question, chosen: description, alternatives, operation, step };
      await beforeDecision(lease, choice, this.#parts.user);
    }
  }

  /** What carries out the steps of a plan that are no single tool calls. */
  worker(
    lease: Lease<"execute">,
    actor: ModelActorDefinition,
    waves: readonly (readonly DecidedStep[])[],
  ): (step: WorkStep, place: StepPlace) => Promise<string> {
    return async (step, place) => {
      const { plan } = lease;
      const { hands, gaveUp } = await this.#handsFor({ lease, step: step.id, order: place.order, place });
      // A graph of tools alone needs none.
      const model = actor.model === undefined && actor.type === "graph" ? undefined : modelOf(actor);
      const { description, resources: used } = step.work;
      const query = `${description}\n${goalOf(plan)}`;
      const port = place.environment.knowledge;
      const resources = await this.#resourcesOf(plan);
      const briefing: Briefing = {
        ...planBriefing(plan),
        resources,
        guidance: await this.#guidanceOf(plan),
        steps: await this.#stepsSeenFrom(plan, place.order, waves),
        context: await this.#contextFor({ hands, step: step.id, model, port, query, resources: used }),
      };
      const { workspaces } = place.environment;
      const inPlace = [...workspaces.values()].some(({ worksInPlace }) => worksInPlace);
      const surroundings = { resources: [...workspaces.keys()], readOnly: plan.readOnly, inPlace };
      return this.#orGiveUp(plan, hands, gaveUp, async () => {
        if (actor.type === "graph") return this.#graph(actor, step, { briefing, hands, surroundings, gaveUp });
        const asked = modelOf(actor);
        return workOn(
          {
            step: step.id,
            description,
            decision: step.decision,
            model: asked,
            settings: settingsOf(actor),
            system: briefed(WORKER_ROLE, actor.systemPrompt, briefing),
            tools: modelTools(actor.tools, surroundings, asked.model),
            memory: actor.memory,
            responseSchema: actor.responseFormat,
            gaveUp,
            count: (text: string) => tokenizerNamed(tokenizerOf(asked.model))(text),
          },
          hands,
        );
      });
    };
  }

  async #graph(
    actor: GraphActorDefinition,
    step: WorkStep,
    parts: { briefing: Briefing; hands: StepHands; surroundings: Parameters<typeof modelTools>[1]; gaveUp: number },
  ): Promise<string> {
    const { briefing, hands, surroundings, gaveUp } = parts;
    const { goal, definitionOfDone, constraints, context } = briefing;
    const state = { step: step.id, definition_of_done: definitionOfDone, constraints: [...constraints], context };
    const { runGraph } = await import("../actors/graph/run-graph.ts");
    const { output } = await runGraph(
      actor,
      {
        goal: step.id === GRAPH_STEP ? goal : step.work.description,
        state,
        briefing: briefed("", "", briefing),
        decision: step.decision,
        key: "graph",
        gaveUp,
      },
      {
        hands: limited(hands),
        actorOf: (name) => this.#parts.store.read((reader) => actorNamed(reader, name)),
        modelOf: (one) => modelOf(one),
        toolsFor: (names) => modelTools(names, surroundings),
      },
    );
    return typeof output === "string" ? output : JSON.stringify(output);
  }

  async #guidanceOf(plan: Plan): Promise<Briefing["guidance"]> {
    const said = await this.#parts.store.read((reader) => guidanceOf(reader, plan));
    return said.map(({ question, text }) => (question === undefined ? text : `${question} ${text}`));
  }

  async #handsFor(parts: {
    lease: Lease;
    step: string;
    order: Order;
    place: StepPlace | undefined;
  }): Promise<{ hands: StepHands; gaveUp: number }> {
    const { store, models, signal, tell } = this.#parts;
    const { lease, step } = parts;
    const all = await store.read((reader) => placedRecords(reader, lease.planId, lease.plan.attempt, lease.phase));
    const own = all.filter(({ id }) => id.startsWith(`${step}/`));
    const recorded = Math.max(0, ...own.map(({ order }) => order.at(-1) ?? 0));
    const gaveUp = own.filter(({ kind }) => kind === "gave_up").length;
    const both = AbortSignal.any([signal, lease.signal]);
    return { hands: new StepHands({ ...parts, recorded, models, signal: both, tell }), gaveUp };
  }

  /** That it gave up is recorded: had to go on by somebody, it goes on from there and not into the same wall. */
  async #orGiveUp<T>(plan: Plan, hands: StepHands, gaveUp: number, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof ModelError) throw error.goingOn(nextStep("plan.execute", { plan: plan.id }));
      if (!(error instanceof AgentsError && GIVES_UP.has(error.code))) throw error;
      await hands.recorded("gave_up", String(gaveUp + 1), () => Promise.resolve(error.message));
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

  /** What the code says about it, assembled once: a resumed run shows the same. */
  async #contextFor(wish: {
    hands: StepHands;
    step: string;
    model: ModelRef | undefined;
    port: ContextPort | undefined;
    query: string;
    resources?: readonly string[];
  }): Promise<string> {
    const { hands, step, model, port, query, resources = [] } = wish;
    const { models, tell } = this.#parts;
    if (port === undefined) return "";
    const window = model === undefined ? undefined : models.windowOf(model);
    const answer = await hands.recorded("context", "1", async () => {
      const question = {
        query: query.slice(0, 10_000),
        entities: [],
        focus: [],
        breadth: DEFAULT_BREADTH,
        depth: DEFAULT_DEPTH,
        strategy: undefined,
        preferredStrategies: [],
        requiredBackends: [],
      };
      const limits = {
        budget: Math.min(CONTEXT_LIMIT, Math.floor((window ?? Infinity) / CONTEXT_SHARE)),
        resources: resources.length === 0 ? undefined : resources,
      };
      const assembled = await port.requestContext(question, limits, hands.signal);
      tell({ type: "context_assembled", step, tokens: assembled.tokens, files: assembled.files_indexed });
      return assembled;
    });
    return answer.text;
  }

  async #resourcesOf(plan: Plan): Promise<Briefing["resources"]> {
    const resources = await this.#parts.store.read((reader) => planResources(reader, plan));
    return resources.map(({ alias, type: kind, readOnly, planReadOnly }) => ({
      alias,
      kind,
      readOnly: readOnly || planReadOnly || plan.readOnly,
    }));
  }

  /** Seen from one step: what its earlier waves came to, who is at work beside it, and what comes later. The same for every try. */
  async #stepsSeenFrom(
    plan: Plan,
    [here = 0, position = 0]: Order,
    waves: readonly (readonly DecidedStep[])[],
  ): Promise<BriefedStep[]> {
    const summaries = await this.#parts.store.read((reader) => stepSummaries(reader, plan.id, plan.attempt));
    return waves.flatMap((wave, index) =>
      wave.map((step, place): BriefedStep => {
        const { id } = step;
        const description = step.tool === undefined ? step.work.description : step.tool;
        if (index > here) return { id, description, state: "later" };
        if (index === here) return { id, description, state: place === position ? "this" : "meanwhile" };
        const summary = summaries.get(id);
        return { id, description, state: "done", ...(summary === undefined ? {} : { summary }) };
      }),
    );
  }
}

/** The same hands, under keys of their own. */
function below(hands: ActorHands, place: string): ActorHands {
  return {
    signal: hands.signal,
    ask: (key, call, about) => hands.ask(`${place}/${key}`, call, about),
    callTool: (key, call) => hands.callTool(`${place}/${key}`, call),
    once: (key, fn) => hands.once(`${place}/${key}`, fn),
  };
}

/** The same hands; answers through them have a limit, also where the node's author gave none. */
function limited(hands: ActorHands): ActorHands {
  return {
    signal: hands.signal,
    ask: (key, call, about) =>
      hands.ask(key, { ...call, settings: { maxOutputTokens: OUTPUT_TOKENS, ...call.settings } }, about),
    callTool: (key, call) => hands.callTool(key, call),
    once: (key, fn) => hands.once(key, fn),
  };
}

function goalOf(plan: Plan): string {
  return `${plan.description}\n${plan.definitionOfDone}`;
}

function planBriefing(plan: Plan): Pick<Briefing, "goal" | "definitionOfDone" | "constraints" | "arguments"> {
  return {
    goal: plan.description,
    definitionOfDone: plan.definitionOfDone,
    constraints: plan.invariants,
    arguments: [...plan.arguments].map(([name, value]) => [name, argumentText(value)]),
  };
}

/** What an answer may be long unless its actor says otherwise: without a limit, nobody could say what a call may cost. */
const OUTPUT_TOKENS = 8_192;

function settingsOf({ options }: ModelActorDefinition): ModelSettings {
  const { baseUrl: _endpoint, ...settings } = options;
  return { maxOutputTokens: OUTPUT_TOKENS, ...settings };
}
