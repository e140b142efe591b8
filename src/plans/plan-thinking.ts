import { briefed, type BriefedStep, type Briefing } from "../actors/briefing.ts";
import type { ActorHands } from "../actors/hands.ts";
import { ModelError } from "../actors/model-error.ts";
import type { ModelRef, ModelSettings, ModelTool } from "../actors/model.ts";
import { STRATEGIST_ROLE, strategize } from "../actors/strategist.ts";
import { WORKER_ROLE, workOn, type Work } from "../actors/worker.ts";
import { tokenizerNamed, tokenizerOf } from "../context/tokens/tokenizer.ts";
import type { ActorDefinition, GraphActorDefinition } from "../domain/actor.ts";
import { argumentText } from "../domain/arguments.ts";
import { AgentsError } from "../domain/errors.ts";
import type { DecisionId } from "../domain/ids.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { Plan } from "../domain/plan.ts";
import type { QualifiedName } from "../domain/qualified-name.ts";
import type { ContextPort } from "../execution/context-port.ts";
import { placedRecords, stepSummaries, type Order } from "../execution/step-records.ts";
import type { DecidedStep, StepPlace, WorkStep } from "../execution/step-runner.ts";
import type { Lease } from "../ledger/leases.ts";
import type { Store } from "../store/store.ts";
import { StepHands, type PlanModels } from "./actor-hands.ts";
import { actorNamed, modelOf, type ModelActorDefinition } from "./actor-named.ts";
import { planResources } from "./in-place.ts";
import { modelTools } from "./model-tools.ts";
import type { PlanContextService } from "./plan-context-service.ts";
import type { OnRunEvent } from "./run-events.ts";
import { recordWork, rootDecision } from "./strategy.ts";

/** Runs a graph actor for one step. */
export type RunGraph = (
  actor: GraphActorDefinition,
  input: {
    readonly goal: string;
    readonly state: JsonObject;
    readonly briefing: string;
    readonly decision: DecisionId;
    readonly key: string;
    readonly gaveUp: number;
  },
  ports: {
    readonly hands: ActorHands;
    readonly actorOf: (name: QualifiedName) => Promise<ActorDefinition>;
    readonly modelOf: (actor: ModelActorDefinition) => ModelRef;
    readonly toolsFor: (names: readonly string[]) => readonly ModelTool[];
  },
) => Promise<{ readonly output: JsonValue }>;

export interface ThinkingParts {
  readonly store: Store;
  readonly models: (lease: Lease) => Promise<PlanModels>;
  readonly context: PlanContextService | undefined;
  readonly runGraph: RunGraph | undefined;
  readonly signal: AbortSignal;
  readonly onEvent: OnRunEvent;
}

/** Under which the questions are recorded that come before there are steps. */
const STRATEGY = "strategy";

/** Of what a model can read at most: the rest is for the conversation, the tools and the answer. */
const CONTEXT_SHARE = 4;

/** Tokens. Every call of a step carries its context again and pays for it; a model that needs more can ask for it by a tool. */
const CONTEXT_LIMIT = 32_000;

/** A step ended so is told to go on with its limits raised, and does not run into the same wall. */
const GIVES_UP: ReadonlySet<string> = new Set(["stuck", "graph_failed", "graph_limit"]);

/**
 * Models at work on a plan under one lease: one decides on its steps, or one carries them out. What they are shown is put together here; what they do goes
 * through `StepHands`.
 */
export class PlanThinking {
  readonly #parts: ThinkingParts;
  #models: Promise<PlanModels> | undefined;

  constructor(parts: ThinkingParts) {
    this.#parts = parts;
  }

  /** Has the steps decided on and records them; what was recorded before a crash is not asked again. */
  async strategize(lease: Lease<"strategize">, actor: ModelActorDefinition): Promise<void> {
    const { plan } = lease;
    const root = await rootDecision(lease);
    const { hands, gaveUp, models } = await this.#handsFor({ lease, step: STRATEGY, order: [0, 0], place: undefined });
    const model = modelOf(actor);
    await using context = this.#parts.context?.executing(plan, actor.contextView ?? "strategize");
    const resources = await this.#resourcesOf(plan);
    const briefing: Briefing = {
      ...planBriefing(plan),
      resources,
      steps: [],
      context: await this.#contextFor({
        hands,
        step: STRATEGY,
        window: models.windowOf?.(model),
        port: context?.port(new Map()),
        query: goalOf(plan),
      }),
    };
    const system = briefed(STRATEGIST_ROLE, actor.systemPrompt, briefing);
    const names = resources.map(({ alias }) => alias);
    const wish = { goal: plan.description, model, settings: settingsOf(actor), system, resources: names };
    const strategy = await this.#orGiveUp(plan, hands, gaveUp, () =>
      strategize({ ...wish, decision: root, gaveUp }, hands),
    );
    await recordWork(lease, strategy);
  }

  /** What carries out the steps of a plan that are no single tool calls. */
  worker(
    lease: Lease<"execute">,
    actor: ModelActorDefinition,
    waves: readonly (readonly DecidedStep[])[],
  ): (step: WorkStep, place: StepPlace) => Promise<string> {
    return async (step, place) => {
      const { plan } = lease;
      const { hands, gaveUp, models } = await this.#handsFor({ lease, step: step.id, order: place.order, place });
      const model = modelOf(actor);
      const window = models.windowOf?.(model);
      const { description, resources: used } = step.work;
      const query = `${description}\n${goalOf(plan)}`;
      const port = place.environment.knowledge;
      const resources = await this.#resourcesOf(plan);
      const briefing: Briefing = {
        ...planBriefing(plan),
        resources,
        steps: await this.#stepsSeenFrom(plan, place.order, waves),
        context: await this.#contextFor({ hands, step: step.id, window, port, query, resources: used }),
      };
      const { workspaces } = place.environment;
      const inPlace = [...workspaces.values()].some(({ sandbox }) => sandbox.strategy === "none");
      const facts = { resources: [...workspaces.keys()], readOnly: plan.readOnly, inPlace };
      const tools = modelTools(actor.tools, facts);
      const toolsFor = (names: readonly string[]): readonly ModelTool[] => modelTools(names, facts);
      const work = {
        step: step.id,
        description,
        decision: step.decision,
        model,
        settings: settingsOf(actor),
        system: briefed(WORKER_ROLE, actor.systemPrompt, briefing),
        tools,
        memory: actor.memory,
        responseSchema: actor.responseFormat,
        gaveUp,
        count: (text: string) => tokenizerNamed(tokenizerOf(model.model))(text),
      };
      return this.#orGiveUp(plan, hands, gaveUp, async () => {
        switch (actor.type) {
          case "llm":
            return workOn(work, hands);
          case "graph":
            return this.#graph(actor, { work, briefing, hands, toolsFor });
        }
      });
    };
  }

  async #graph(actor: GraphActorDefinition, task: GraphTask): Promise<string> {
    const { runGraph, store } = this.#parts;
    if (runGraph === undefined) throw new Error(`nobody is there to run the graph of the actor "${actor.name}"`);
    const { work, briefing, hands } = task;
    const { step, description, decision, gaveUp } = work;
    const { goal, definitionOfDone, constraints, context } = briefing;
    const state = { step, description, goal, definition_of_done: definitionOfDone, constraints, context };
    // What its author wrote is in the system prompts of the nodes.
    const told = briefed(WORKER_ROLE, "", briefing);
    const actorOf = (name: QualifiedName): Promise<ActorDefinition> => store.read((reader) => actorNamed(reader, name));
    const input = { goal: description, state, briefing: told, decision, key: "graph", gaveUp };
    const { output } = await runGraph(actor, input, { hands, actorOf, modelOf, toolsFor: task.toolsFor });
    return typeof output === "string" ? output : JSON.stringify(output);
  }

  async #handsFor(parts: {
    lease: Lease;
    step: string;
    order: Order;
    place: StepPlace | undefined;
  }): Promise<{ hands: StepHands; gaveUp: number; models: PlanModels }> {
    const { store, signal, onEvent } = this.#parts;
    const { lease, step } = parts;
    const models = await (this.#models ??= this.#parts.models(lease));
    const all = await store.read((reader) => placedRecords(reader, lease.planId, lease.plan.attempt, lease.phase));
    const own = all.filter(({ key }) => key.replace(/^[^:]*:/, "").startsWith(`${step}/`));
    const recorded = Math.max(0, ...own.map(({ order }) => order.at(-1) ?? 0));
    const gaveUp = own.filter(({ key }) => key.startsWith("gave-up:")).length;
    const both = AbortSignal.any([signal, lease.signal]);
    return { hands: new StepHands({ ...parts, recorded, models, signal: both, onEvent }), gaveUp, models };
  }

  /** That it gave up is recorded: had to go on by somebody, it goes on from there and not into the same wall. */
  async #orGiveUp<T>(plan: Plan, hands: StepHands, gaveUp: number, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof ModelError) throw error.goingOn(`agents plan execute ${plan.id}`);
      if (!(error instanceof AgentsError) || !GIVES_UP.has(error.code)) throw error;
      await hands.recorded("gave-up", String(gaveUp + 1), () => Promise.resolve(error.message));
      const { code, message, kept, detail, next } = error;
      throw new AgentsError(code, message, {
        ...(kept === undefined ? {} : { kept }),
        next: [
          ...next,
          `agents plan execute ${plan.id}`,
          `agents plan tree ${plan.id}`,
          `agents plan revert ${plan.id}`,
        ],
        detail,
      });
    }
  }

  /** What the code says about it, assembled once: a resumed run shows the same. */
  async #contextFor(wish: {
    hands: StepHands;
    step: string;
    window: number | undefined;
    port: ContextPort | undefined;
    query: string;
    resources?: readonly string[];
  }): Promise<string> {
    const { hands, step, window = Number.POSITIVE_INFINITY, port, query, resources = [] } = wish;
    const { onEvent } = this.#parts;
    if (port === undefined) return "";
    const answer = await hands.recorded("context", "1", async () => {
      const question = {
        query: query.slice(0, 10_000),
        entities: [],
        focus: [],
        breadth: undefined,
        depth: undefined,
        strategy: undefined,
        preferredStrategies: [],
        requiredBackends: [],
        budget: Math.min(CONTEXT_LIMIT, Math.floor(window / CONTEXT_SHARE)),
        resources: resources.length === 0 ? undefined : resources,
      };
      const assembled = (await port.requestContext(question, hands.signal)) as Assembled;
      onEvent({ type: "context_assembled", step, tokens: assembled.tokens, files: assembled.files_indexed });
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

interface GraphTask {
  readonly work: Pick<Work, "step" | "description" | "decision" | "gaveUp">;
  readonly briefing: Briefing;
  readonly hands: ActorHands;
  readonly toolsFor: (names: readonly string[]) => readonly ModelTool[];
}

/** What a plan's context port answers, as far as it is read here. */
interface Assembled extends JsonObject {
  readonly text: string;
  readonly tokens: number;
  readonly files_indexed: number;
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

function settingsOf({ options }: ModelActorDefinition): ModelSettings {
  const { baseUrl: _endpoint, ...settings } = options;
  return settings;
}
