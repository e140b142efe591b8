/**
 * One question to an actor, outside of any plan and without tools. The answer is told as it arrives, and returned as a
 * whole.
 */
import * as z from "zod";
import { runGraph } from "../../actors/graph/run-graph.ts";
import { NO_DECISION, UnrecordedEffects } from "../../actors/loop/unrecorded-effects.ts";
import type { PricedModels } from "../../actors/models/budgeted-models.ts";
import { modelSettings } from "../../actors/models/model-settings.ts";
import type { ModelAnswer, ModelRef, ModelSettings } from "../../actors/models/model.ts";
import { modelOf } from "../../actors/providers/actor-model.ts";
import type { ActorDefinition, GraphActorDefinition, LlmActorDefinition } from "../../domain/actor/actor.ts";
import { ConfigurationError, UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { Effort, Json } from "../base/schemas.ts";

const Input = z.strictObject({
  actor: z.string(),
  prompt: z.string(),
  system: z.string().optional(),
  temperature: z.number().min(0, "must be from 0 to 2").max(2, "must be from 0 to 2").optional(),
  maxOutputTokens: z.int().min(1, "must be at least 1").optional(),
  topP: z.number().min(0, "must be from 0 to 1").max(1, "must be from 0 to 1").optional(),
  effort: Effort.optional(),
  provider: z.string().optional(),
  model: z.string().optional(),
});

const Usage = z.strictObject({
  inputTokens: z.int(),
  /** Those of the input tokens that the provider read from its cache. */
  cachedTokens: z.int(),
  outputTokens: z.int(),
  estimated: z.boolean(),
  durationMs: z.int(),
  modelCalls: z.int(),
  toolCalls: z.int(),
  attempts: z.int(),
  maskedSecrets: z.int(),
});

export const operation = defineOperation({
  input: Input,
  output: z.strictObject({
    actorRun: z.strictObject({
      actor: z.string(),
      type: z.enum(["llm", "graph"]),
      /** Another model than the one asked when that one failed and a fallback is configured. */
      answeredBy: z.string(),
      prompt: z.string(),
    }),
    response: z.string(),
    /** The cost is null when the price of one of the calls is not known. */
    usage: Usage.extend({ costUsd: z.number().nullable() }),
    finish: z.enum(["stop", "tool_calls", "length", "other"]),
    graph: z
      .strictObject({ output: Json, state: z.record(z.string(), Json), visits: z.record(z.string(), z.int()) })
      .optional(),
  }),
  run: async (app, input, call) => {
    const prompt = input.prompt.trim();
    if (prompt === "") {
      throw new UsageError("Say what to ask the actor.", {
        kept: "Nothing was sent.",
        next: [nextStep("actor.run", { actor: input.actor, prompt: "<question>" })],
      });
    }
    const actor = asked(await app.actorNamed(input.actor), input);
    const models = await app.budgetedModels(undefined, (warning) => call.tell({ type: "budget_warning", ...warning }));
    const question = { app, models, prompt, call };
    const done = actor.type === "llm" ? await askModel(actor, question) : await askGraph(actor, question);
    const cost = costOf(models, done.answers);
    warn(done, call);
    return {
      actorRun: {
        actor: actor.name,
        type: actor.type,
        answeredBy: [...new Set(done.answers.map(({ model }) => nameOf(model)))].join(", "),
        prompt,
      },
      response: done.response,
      usage: { ...usageOf(done.answers), costUsd: cost === undefined ? null : cost / 1_000_000 },
      finish: done.answers.at(-1)?.finish ?? "stop",
      ...(done.graph === undefined ? {} : { graph: done.graph }),
    };
  },
});

interface PutQuestion {
  readonly app: App;
  readonly models: PricedModels;
  readonly prompt: string;
  readonly call: Call;
}

interface Done {
  readonly response: string;
  readonly answers: readonly ModelAnswer[];
  /** The model that was asked, if that was a single one. */
  readonly asked?: ModelRef;
  readonly graph?: Awaited<ReturnType<typeof runGraph>>;
}

/** The actor with the caller's wishes for this question. */
function asked(actor: ActorDefinition, input: z.output<typeof Input>): LlmActorDefinition | GraphActorDefinition {
  const { provider, model, system } = input;
  if (actor.type === "acp") {
    throw new ConfigurationError(`The actor "${actor.name}" works on plans: it cannot be asked outside of one.`, {
      kept: "Nothing was sent.",
      next: [nextStep("run", { request: "<request>", actor: actor.name })],
    });
  }
  // Also refuses an actor that cannot be asked, before anything is sent.
  const ref =
    actor.type === "graph" && actor.model === undefined && model === undefined
      ? undefined
      : modelOf(actor, { provider, model });
  if (actor.type === "tool") throw new Error("A tool actor was asked.");
  const { baseUrl } = actor.options;
  return {
    ...actor,
    ...(ref === undefined ? {} : { provider: ref.provider, model: ref.model }),
    systemPrompt: system ?? actor.systemPrompt,
    options: { ...actor.options, ...settingsOf(input), ...(baseUrl === undefined ? {} : { baseUrl }) },
  };
}

function settingsOf({ temperature, maxOutputTokens, topP, effort }: z.output<typeof Input>): ModelSettings {
  return {
    ...(effort === undefined ? {} : { reasoning: effort }),
    ...(topP === undefined ? {} : { topP }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
}

async function askModel(actor: LlmActorDefinition, { models, prompt, call }: PutQuestion): Promise<Done> {
  const settings = modelSettings(actor.options);
  const model = modelOf(actor);
  const answer = await models.call({
    model,
    system: actor.systemPrompt,
    messages: [{ role: "user", content: prompt }],
    tools: [],
    settings,
    signal: call.signal,
    ...(actor.responseFormat === undefined ? {} : { responseSchema: actor.responseFormat }),
    onWait: (wait) => call.tell({ type: "answer_waits", ...wait }),
    onText: (text) => call.tell({ type: "answer_text", text }),
    onRestart: () => call.tell({ type: "answer_void" }),
  });
  return { response: answer.text, answers: [answer], asked: model };
}

async function askGraph(actor: GraphActorDefinition, { app, models, prompt, call }: PutQuestion): Promise<Done> {
  const effects = new UnrecordedEffects(models, call.signal);
  const graph = await runGraph(
    actor,
    { goal: prompt, state: {}, decision: NO_DECISION, key: "run" },
    { effects, actorOf: (name) => app.actorNamed(name), modelOf: (one) => modelOf(one), toolsFor: () => [] },
  );
  const { output } = graph;
  const response = typeof output === "string" ? output : JSON.stringify(output, undefined, 2);
  return { response, answers: effects.answers, graph };
}

function warn({ answers, asked: wanted }: Done, call: Call): void {
  const tell = (text: string): void => call.tell({ type: "notice", level: "warning", text });
  const [first] = answers;
  if (wanted !== undefined && first !== undefined && nameOf(first.model) !== nameOf(wanted)) {
    tell(`${nameOf(wanted)} did not answer; ${nameOf(first.model)} did.`);
  }
  if (answers.some(({ finish }) => finish === "length")) tell("The answer was cut off at its limit.");
}

function usageOf(answers: readonly ModelAnswer[]): z.output<typeof Usage> {
  const sum = (of: (answer: ModelAnswer) => number): number => answers.reduce((total, answer) => total + of(answer), 0);
  return {
    inputTokens: sum(({ usage }) => usage.inputTokens),
    cachedTokens: sum(({ usage }) => usage.cachedInputTokens ?? 0),
    outputTokens: sum(({ usage }) => usage.outputTokens),
    estimated: answers.some(({ usage }) => usage.estimated),
    durationMs: Math.round(sum(({ durationMs }) => durationMs)),
    modelCalls: answers.length,
    toolCalls: 0,
    attempts: sum(({ attempts }) => attempts.length),
    maskedSecrets: sum(({ masked }) => masked),
  };
}

/** Undefined as soon as the price of one of them is not known. */
function costOf(models: PricedModels, answers: readonly ModelAnswer[]): number | undefined {
  let total = 0;
  for (const { model, usage } of answers) {
    const cost = models.costOf(model, usage);
    if (cost === undefined) return undefined;
    total += cost;
  }
  return total;
}

function nameOf({ provider, model }: ModelRef): string {
  return `${provider}/${model}`;
}
