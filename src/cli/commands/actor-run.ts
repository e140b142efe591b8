import { modelOf } from "../../actors/model-of.ts";
import type { PricedModels } from "../../actors/budgeted-models.ts";
import { dollars } from "../../domain/money.ts";
import type { ModelAnswer, ModelRef, ModelSettings } from "../../actors/model.ts";
import { NO_DECISION, UnrecordedHands } from "../../actors/unrecorded-hands.ts";
import type { ActorDefinition, GraphActorDefinition, LlmActorDefinition } from "../../domain/actor.ts";
import { UsageError } from "../../domain/errors.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { count } from "../format.ts";
import { interruptible } from "../interrupt.ts";
import type { Message, Outcome } from "../outcome.ts";
import { Pieces } from "../terminal-text.ts";
import { budgetWarning } from "./budget-data.ts";

/**
 * One question to an actor, outside of any plan and without tools. The answer alone is on stdout, so that it can be piped: to a person as
 * it arrives, to a program when it is complete.
 */
export async function actorRun(context: CommandContext, input: Input): Promise<Outcome> {
  const prompt = input.arguments(1).join(" ").trim();
  if (prompt === "") {
    throw new UsageError("What is the actor to be asked?", {
      kept: "Nothing was sent.",
      next: [`agents actor run ${input.argument(0)} "<question>"`],
    });
  }
  const settings = settingsOf(input);
  const actor = asked(await context.actorNamed(input.argument(0)), input, settings);
  const warnings: Message[] = [];
  const models = await context.budgetedModels(undefined, (warning) => void warnings.push(budgetWarning(warning)));
  const machine = ["json", "yaml"].includes(await context.format());
  const live = !machine && process.stdout.isTTY && actor.type === "llm";
  const { signal, stop } = interruptible();
  try {
    const run = { context, models, prompt, signal };
    const done = actor.type === "llm" ? await askModel(actor, run, live) : await askGraph(actor, run);
    const cost = costOf(models, done.answers);
    const messages = [...warnings, ...messagesOf(done, cost)];
    if (!machine) {
      for (const { level, text } of messages)
        process.stderr.write(`${level === "warning" ? "warning: " : ""}${text}\n`);
    }
    return {
      data: {
        actor_run: {
          actor: actor.name,
          type: actor.type,
          answered_by: [...new Set(done.answers.map(({ model }) => nameOf(model)))].join(", "),
          prompt,
        },
        response: done.response,
        usage: { ...usageData(done.answers), cost_usd: cost === undefined ? null : cost / 1_000_000 },
        finish: done.answers.at(-1)?.finish ?? "stop",
        ...(done.graph === undefined ? {} : { graph: done.graph }),
      },
      view: [],
      messages,
      text: live ? "\n" : `${done.response.trimEnd()}\n`,
    };
  } finally {
    stop();
  }
}

interface Run {
  readonly context: CommandContext;
  readonly models: PricedModels;
  readonly prompt: string;
  readonly signal: AbortSignal;
}

/** What came of it. */
interface Done {
  readonly response: string;
  readonly answers: readonly ModelAnswer[];
  /** Whom it was meant for, if that was a single model. */
  readonly asked?: ModelRef;
  readonly graph?: Readonly<Record<string, unknown>>;
}

type Askable = LlmActorDefinition | GraphActorDefinition;

/** The actor as it is to be asked now. */
function asked(actor: ActorDefinition, input: Input, settings: ModelSettings): Askable {
  const provider = input.text("provider");
  const model = input.text("model");
  // Also refuses one that cannot be asked, before anything is sent.
  const ref =
    actor.type === "graph" && actor.model === undefined && model === undefined
      ? undefined
      : modelOf(actor, { provider, model });
  if (actor.type === "tool") throw new Error("A tool actor was asked.");
  const { baseUrl } = actor.options;
  return {
    ...actor,
    ...(ref === undefined ? {} : { provider: ref.provider, model: ref.model }),
    systemPrompt: input.text("system") ?? actor.systemPrompt,
    options: { ...actor.options, ...settings, ...(baseUrl === undefined ? {} : { baseUrl }) },
  };
}

async function askModel(actor: LlmActorDefinition, { models, prompt, signal }: Run, live: boolean): Promise<Done> {
  const { baseUrl: _, ...settings } = actor.options;
  const model = modelOf(actor);
  const pieces = new Pieces((text) => void process.stdout.write(text));
  const answer = await models.call({
    model,
    system: actor.systemPrompt,
    messages: [{ role: "user", content: prompt }],
    tools: [],
    settings,
    signal,
    ...(actor.responseFormat === undefined ? {} : { responseSchema: actor.responseFormat }),
    ...(live ? { onText: pieces.push } : {}),
  });
  pieces.end();
  return { response: answer.text, answers: [answer], asked: model };
}

async function askGraph(actor: GraphActorDefinition, run: Run): Promise<Done> {
  const { runGraph } = await import("../../actors/graph/run-graph.ts");
  const hands = new UnrecordedHands(run.models, run.signal);
  const { output, state, visits } = await runGraph(
    actor,
    { goal: run.prompt, state: {}, decision: NO_DECISION, key: "run" },
    {
      hands,
      actorOf: (name) => run.context.actorNamed(name),
      modelOf: (one) => modelOf(one),
      toolsFor: () => [],
    },
  );
  const response = typeof output === "string" ? output : JSON.stringify(output, undefined, 2);
  return { response, answers: hands.answers, graph: { output, state, visits } };
}

function usageData(answers: readonly ModelAnswer[]): Record<string, unknown> {
  const sum = (of: (answer: ModelAnswer) => number): number => answers.reduce((total, answer) => total + of(answer), 0);
  return {
    input_tokens: sum(({ usage }) => usage.inputTokens),
    output_tokens: sum(({ usage }) => usage.outputTokens),
    estimated: answers.some(({ usage }) => usage.estimated),
    duration_ms: Math.round(sum(({ durationMs }) => durationMs)),
    model_calls: answers.length,
    tool_calls: 0,
    attempts: sum(({ attempts }) => attempts.length),
    masked_secrets: sum(({ masked }) => masked),
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

function settingsOf(input: Input): ModelSettings {
  const temperature = numberOf(input, "temperature", (value) => value >= 0 && value <= 2, "from 0 to 2");
  const whole = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;
  const maxOutputTokens = numberOf(input, "maxOutputTokens", whole, "a whole number, at least 1");
  const topP = numberOf(input, "topP", (value) => value >= 0 && value <= 1, "from 0 to 1");
  return {
    ...(topP === undefined ? {} : { topP }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
}

function numberOf(input: Input, name: string, fits: (value: number) => boolean, form: string): number | undefined {
  const text = input.text(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== "" && fits(value)) return value;
  const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(`--${flag} must be ${form}, not "${text}".`, { kept: "Nothing was sent." });
}

function messagesOf({ response, answers, asked: wanted }: Done, cost: number | undefined): Message[] {
  const messages: Message[] = [];
  const [first] = answers;
  if (wanted !== undefined && first !== undefined && nameOf(first.model) !== nameOf(wanted)) {
    messages.push({ level: "warning", text: `${nameOf(wanted)} did not answer; ${nameOf(first.model)} did.` });
  }
  if (answers.some(({ finish }) => finish === "length")) {
    messages.push({ level: "warning", text: "The answer was cut off at its limit." });
  }
  if (response.trim() === "") messages.push({ level: "warning", text: "The answer is empty." });
  const masked = answers.reduce((total, answer) => total + answer.masked, 0);
  if (masked > 0) messages.push({ level: "info", text: `${count(masked, "secret")} masked.` });
  const price = cost === undefined ? "at a price that is not known" : `for ${dollars(cost)}`;
  const tokens = (of: "inputTokens" | "outputTokens"): number =>
    answers.reduce((total, { usage }) => total + usage[of], 0);
  const used = `${tokens("inputTokens")} tokens in, ${tokens("outputTokens")} out, ${price}`;
  const estimated = answers.some(({ usage }) => usage.estimated);
  messages.push({ level: "info", text: estimated ? `${used} (counted here).` : `${used}.` });
  return messages;
}

function nameOf({ provider, model }: ModelRef): string {
  return `${provider}/${model}`;
}
