import { maskJson, maskSecrets } from "../domain/secrets/redaction.ts";
import type { JsonObject } from "../domain/values/json.ts";
import { TryUsage } from "./providers/believed-usage.ts";
import { callsInText, refusesTools, withoutTools } from "./models/text-protocol.ts";
import { withoutImages } from "./models/message-images.ts";
import type { FactsCatalog, LearnedFacts } from "./models/model-facts.ts";
import { ModelError, callStoppedError } from "./models/model-error.ts";
import type {
  AnswerOriginal,
  Microdollars,
  ModelAnswer,
  ModelAttempt,
  ModelCall,
  ModelMessage,
  ModelRef,
  Models,
  ModelUsage,
  UpperBound,
} from "./models/model.ts";
import { costOf, planOutputTokens, upperBoundOf, type CountModelTokens } from "./providers/prices.ts";
import {
  checkFallbacks,
  configuredProviders,
  requireProvider,
  secretsToMask,
  type Provider,
} from "./providers/providers.ts";
import type { Answered } from "./providers/answer-stream.ts";
import { delayBefore, PATIENCE, type RetryPatience } from "./providers/retry.ts";
import { Transcripts } from "./scripted/scripted-model.ts";
import type { Environment } from "../domain/values/environment.ts";

/**
 * The one door to models. A call is masked, sent to the endpoint of the provider it names, tried again where that may
 * help, and then to the fallbacks the user listed, if any. Every try is in the answer or in the error.
 */
export class ModelGateway implements Models {
  readonly providers: readonly Provider[];
  readonly #count: CountModelTokens;
  readonly #learned: ReadonlyMap<string, LearnedFacts>;
  readonly #patience: RetryPatience;
  readonly #known: readonly string[];
  readonly #transcripts: Transcripts;
  /** Models that turned out to take no tools. */
  readonly #toolless = new Set<string>();

  constructor(parts: {
    /** The values of the configuration file. */
    settings: ReadonlyMap<string, string>;
    environment: Environment;
    count: CountModelTokens;
    patience?: RetryPatience;
    /** Known facts of models, besides those that come with the package. */
    facts?: FactsCatalog;
    /** By `provider/model`, what the servers of models said of them. */
    learned?: ReadonlyMap<string, LearnedFacts>;
    /** Relative paths of transcripts begin here. */
    directory?: string;
  }) {
    this.providers = configuredProviders(parts.settings, parts.environment, parts.facts);
    this.#count = parts.count;
    this.#learned = parts.learned ?? new Map();
    this.#patience = parts.patience ?? PATIENCE;
    this.#known = secretsToMask(this.providers, parts.environment);
    this.#transcripts = new Transcripts(parts.directory ?? process.cwd());
  }

  async call(call: ModelCall): Promise<ModelAnswer> {
    const asked = requireProvider(this.providers, call.model);
    const fallbacks = [...(call.fallbacks ?? []), ...asked.fallbacks];
    checkFallbacks(asked, fallbacks, this.providers);
    const { safe, masked } = this.#masked({ ...call, messages: this.#visible(call.model, call.messages) });
    const { system, messages, tools, responseSchema, settings } = safe;
    call.onShown?.({ system, messages, tools, settings, ...(responseSchema === undefined ? {} : { responseSchema }) });
    const tries = new Tries(safe, this.#patience.now);
    const last = fallbacks.at(-1) ?? call.model;
    for (const model of [call.model, ...fallbacks]) {
      const messages = this.#visible(model, tries.call.messages);
      const answered = await this.#ask({ ...tries.call, model, messages }, tries, model !== last);
      if (answered !== undefined)
        return { ...answered, model, durationMs: tries.duration, attempts: tries.made, masked };
    }
    throw tries.failure();
  }

  /** The cost of the tokens used, in millionths of a dollar; undefined when the price is not known. */
  costOf(model: ModelRef, usage: ModelUsage): Microdollars | undefined {
    return costOf(requireProvider(this.providers, model), model.model, usage);
  }

  /** How many tokens the model reads at most; undefined when that is not publicly known. */
  windowOf(model: ModelRef): number | undefined {
    const learned = this.#learned.get(`${model.provider}/${model.model}`);
    return learned?.window ?? requireProvider(this.providers, model).facts(model.model)?.contextWindow;
  }

  /** Whether the model can be shown images, as far as that is known. */
  seesImages(model: ModelRef): boolean {
    const { images, facts } = requireProvider(this.providers, model);
    const learned = this.#learned.get(`${model.provider}/${model.model}`)?.images;
    return images.has(model.model) || images.has("*") || (learned ?? facts(model.model)?.images) === true;
  }

  /** The same messages; a model that cannot see is told in words what it is not shown. */
  #visible(model: ModelRef, messages: readonly ModelMessage[]): readonly ModelMessage[] {
    if (this.seesImages(model)) return messages;
    return messages.map((message) =>
      message.role === "user" ? withoutImages(message, `${model.provider}/${model.model} cannot see images`) : message,
    );
  }

  /** How long an answer may be where its actor does not say. */
  outputTokensOf(model: ModelRef): number {
    return planOutputTokens(requireProvider(this.providers, model), model.model);
  }

  /** The most one try of this call can cost: what a budget has to reserve. */
  upperBoundOf(call: ModelCall): UpperBound {
    return upperBoundOf(requireProvider(this.providers, call.model), call, this.#count);
  }

  /** Undefined when it failed in a way that lets others be asked. */
  async #ask(call: ModelCall, tries: Tries, hasFallback: boolean): Promise<Answered | undefined> {
    const provider = requireProvider(this.providers, call.model);
    const impatient = hasFallback || provider.type === "scripted";
    let waited = 0;
    for (let attempt = 1; ; attempt += 1) {
      if (call.signal.aborted) throw callStoppedError(call.model).after(tries.made);
      await call.beforeTry?.(call.model, this.upperBoundOf(call));
      try {
        return await tries.make(call.model, () => this.#once(call, provider, attempt));
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        const trying = { next: attempt + 1, tries: provider.tries, impatient, waited };
        const wait = delayBefore(trying, error, this.#patience.random);
        if (tries.cannotBeginAgain || (wait === undefined && !error.fallsBack)) throw tries.failure();
        if (wait === undefined) return undefined;
        if (error.retryAfterMs === undefined) waited += wait.delayMs;
        call.onWait?.(wait);
        await this.#sleep(wait.delayMs, call, tries);
      }
    }
  }

  async #once(call: ModelCall, provider: Provider, attempt: number): Promise<Answered> {
    if (provider.type === "scripted") return await this.#scripted(call, provider, attempt);
    const { sdkCall } = await import("./providers/sdk-call.ts");
    const parts = { provider, count: this.#count, known: this.#known };
    const name = `${call.model.provider}/${call.model.model}`;
    const inText = async (): Promise<Answered> => callsInText(await sdkCall(withoutTools(call), parts), call);
    if (this.#toolless.has(name) || provider.facts(call.model.model)?.tools === false) return await inText();
    try {
      return await sdkCall(call, parts);
    } catch (error) {
      if (call.tools.length === 0 || !(error instanceof ModelError) || !refusesTools(error)) throw error;
      // It was refused before it did anything, so the same try goes on in another form.
      this.#toolless.add(name);
      return await inText();
    }
  }

  async #scripted(call: ModelCall, provider: Provider, attempt: number): Promise<Answered> {
    try {
      return await this.#transcripts.answer(call, provider, attempt, this.#patience.sleep);
    } catch (error) {
      if (!(error instanceof ModelError) || !error.endedByUs) throw error;
      // It says its words at once, so of one that was stopped only the call was sent.
      throw error.billed(new TryUsage(call, provider, this.#count).of("", undefined));
    }
  }

  async #sleep(milliseconds: number, call: ModelCall, tries: Tries): Promise<void> {
    try {
      await this.#patience.sleep(milliseconds, call.signal);
    } catch (error) {
      if (!call.signal.aborted) throw error;
      throw callStoppedError(call.model).after(tries.made);
    }
  }

  /** Everything a model is shown. */
  #masked(call: ModelCall): { safe: ModelCall; masked: number } {
    let masked = 0;
    const text = (value: string): string => {
      const found = maskSecrets(value, this.#known);
      masked += found.masked;
      return found.text;
    };
    const json = <T extends JsonObject | ModelToolOutput>(value: T): T => {
      const found = maskJson(value, this.#known);
      masked += found.masked;
      return found.value as T;
    };
    const messages = call.messages.map((message): ModelMessage => {
      switch (message.role) {
        case "user":
          return { ...message, content: text(message.content) };
        case "tool":
          return { ...message, output: json(message.output) };
        case "assistant":
          return {
            ...message,
            content: text(message.content),
            ...(message.original === undefined ? {} : { original: this.#maskedParts(message.original) }),
            toolCalls: message.toolCalls.map((one) => ({
              ...one,
              raw: text(one.raw),
              params: one.params === undefined ? undefined : json(one.params),
            })),
          };
      }
    });
    const tools = call.tools.map((tool) => ({ ...tool, description: text(tool.description) }));
    return { safe: { ...call, system: text(call.system), messages, tools }, masked };
  }

  /**
   * Texts as everywhere. Thoughts and the provider's data stay as they came: a provider refuses changed ones, and
   * nothing is in them that the model was not shown with its secrets masked.
   */
  #maskedParts({ model, parts }: AnswerOriginal): AnswerOriginal {
    return {
      model,
      parts: parts.map((part) =>
        part.type === "text" ? { ...part, text: maskSecrets(part.text, this.#known).text } : part,
      ),
    };
  }
}

type ModelToolOutput = Extract<ModelMessage, { role: "tool" }>["output"];

/** The tries of one call, and whether anything of them was shown already. */
class Tries {
  readonly call: ModelCall;
  readonly made: ModelAttempt[] = [];
  readonly #now: () => number;
  readonly #begun: number;
  #shown = false;
  #last: ModelError | undefined;

  constructor(call: ModelCall, now: () => number) {
    const { onText } = call;
    const show = (text: string): void => {
      this.#shown = true;
      onText?.(text);
    };
    this.call = onText === undefined ? call : { ...call, onText: show };
    this.#now = now;
    this.#begun = now();
  }

  get duration(): number {
    return this.#now() - this.#begun;
  }

  async make(model: ModelRef, once: () => Promise<Answered>): Promise<Answered> {
    if (this.#shown) this.call.onRestart?.();
    this.#shown = false;
    const begun = this.#now();
    const record = async (outcome: Pick<ModelAttempt, "error" | "usage" | "mayBeBilled">): Promise<void> => {
      const attempt: ModelAttempt = { model, durationMs: this.#now() - begun, ...outcome };
      this.made.push(attempt);
      await this.call.afterTry?.(attempt);
    };
    let answered: Answered;
    try {
      answered = await once();
    } catch (error) {
      // In every case, the caller that reserved money for this try must hear of its end.
      if (error instanceof ModelError) this.#last = error;
      await record({
        error: error instanceof Error ? error.message : String(error),
        usage: error instanceof ModelError ? error.usage : undefined,
        mayBeBilled: error instanceof ModelError ? error.mayBeBilled : true,
      });
      throw error;
    }
    await record({ error: undefined, usage: answered.usage, mayBeBilled: true });
    return answered;
  }

  /** Text that was shown cannot be taken back; only a caller that asked to be told may see the answer begin again. */
  get cannotBeginAgain(): boolean {
    return this.#shown && this.call.onRestart === undefined;
  }

  failure(): Error {
    return this.#last?.after(this.made) ?? new Error("No model was asked.");
  }
}
