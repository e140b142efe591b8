/**
 * The set-up of a user: which model runs ask, its key, the cap of a run, and one short question to see that it works.
 * A person is asked; a program says it all at once. Each answer is stored as soon as it is given, so that leaving at
 * any question keeps those before it.
 */
import * as z from "zod";
import { isUsable } from "../../actors/providers/providers.ts";
import { AgentsError, UsageError, ValidationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { modelNamed } from "../../domain/names/actor-name.ts";
import { defaultActorKey } from "../../domain/settings/actor-settings.ts";
import { findSetting } from "../../domain/settings/settings.ts";
import { shown } from "../../domain/text/text.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { findModels, type FoundModels } from "./found-models.ts";
import { storeSetting } from "./stored-settings.ts";

export const SetUp = z.strictObject({
  /** Those that can be asked now, and by what. */
  providers: z.array(z.strictObject({ provider: z.string(), by: z.string() })).readonly(),
  model: z.string().nullable(),
  /** Whether the model's provider can be asked now. */
  usable: z.boolean(),
  budgetPerRun: z.string(),
  test: z.strictObject({ outcome: z.enum(["answered", "failed", "skipped"]), text: z.string() }),
  /** The keys of the settings that were written. */
  stored: z.array(z.string()).readonly(),
  /** The user left at a question. */
  left: z.boolean(),
});
export type SetUp = z.output<typeof SetUp>;

export interface SetUpWishes {
  readonly model?: string | undefined;
  readonly keyFrom?: string | undefined;
  readonly key?: { readonly text: string } | undefined;
  readonly budgetPerRun?: string | undefined;
  readonly test: boolean;
  readonly defaults: boolean;
}

/** Asks a model one short question; its errors say why it cannot answer. */
type AskOnce = (actor: string, maxOutputTokens: number) => Promise<unknown>;

/** Undefined when no one can be asked and nothing was said. */
export async function setUp(app: App, wishes: SetUpWishes, call: Call, askOnce: AskOnce): Promise<SetUp | undefined> {
  const { model, keyFrom, key, budgetPerRun, defaults } = wishes;
  const said = defaults || [model, keyFrom, key, budgetPerRun].some((one) => one !== undefined);
  const asks = call.answers === "person" && !defaults;
  if (!asks && !said) return undefined;
  const setting = new SettingUp(app, call, { wishes, asks, askOnce });
  return setting.run();
}

/** The user left at a question. */
class Left extends Error {}

class SettingUp {
  readonly #app: App;
  readonly #call: Call;
  readonly #wishes: SetUpWishes;
  readonly #asks: boolean;
  readonly #askOnce: AskOnce;
  readonly #stored: string[] = [];
  #test: SetUp["test"] = { outcome: "skipped", text: "The model was not asked." };

  constructor(
    app: App,
    call: Call,
    { wishes, asks, askOnce }: { readonly wishes: SetUpWishes; readonly asks: boolean; readonly askOnce: AskOnce },
  ) {
    this.#app = app;
    this.#call = call;
    this.#wishes = wishes;
    this.#asks = asks;
    this.#askOnce = askOnce;
  }

  async run(): Promise<SetUp> {
    const found = await findModels(this.#app, this.#call.signal);
    let left = false;
    try {
      await this.#chooseModel(found);
      await this.#giveKey();
      await this.#setCap();
      await this.#tryModel();
    } catch (error) {
      if (!(error instanceof Left)) throw error;
      left = true;
    }
    const { value: budgetPerRun = "" } = await this.#app.setting("budget.per-run");
    // With what is stored now, other providers can be asked.
    const { ready } = this.#stored.length === 0 ? found : await findModels(this.#app, this.#call.signal);
    const model = (await this.#model()) ?? null;
    return {
      providers: ready.map(({ provider, by }) => ({ provider, by })),
      model,
      usable: await this.#isUsable(model),
      budgetPerRun,
      test: this.#test,
      stored: this.#stored,
      left,
    };
  }

  async #chooseModel(found: FoundModels): Promise<void> {
    const current = await this.#model();
    const usual = current ?? found.ready[0]?.models[0];
    const named = this.#wishes.model ?? (this.#asks ? await this.#askModel(found, { current, usual }) : usual);
    if (named === undefined || named === current) return;
    const key = defaultActorKey("execution");
    const problem = findSetting(key).problem(named);
    if (problem !== undefined) throw valueError("model", named, problem);
    const name = await this.#actorOf(named, found);
    const strategy = (await this.#app.setting(defaultActorKey("strategy"))).value;
    // A strategist that the user chose by itself stays.
    if (strategy === undefined || strategy === current) await this.#store(defaultActorKey("strategy"), name);
    await this.#store(key, name);
    const { local } = found;
    if (local !== undefined && modelNamed(name)?.provider === "ollama")
      await this.#store("provider.ollama.base-url", local);
  }

  /** A model of a provider that only lacks its key; or an actor that can be found. */
  async #actorOf(named: string, { known }: FoundModels): Promise<string> {
    const provider = modelNamed(named)?.provider;
    return provider !== undefined && known.includes(provider) ? named : (await this.#app.actorNamed(named)).name;
  }

  async #askModel(
    found: FoundModels,
    { current, usual }: { readonly current: string | undefined; readonly usual: string | undefined },
  ): Promise<string | undefined> {
    const choices = [...found.ready, ...found.others].flatMap(({ models, by }) =>
      models.map((model) => ({ model, by })),
    );
    const lines = choices.map(({ model, by }, index) => `  ${index + 1}. ${model} (${by})\n`);
    const enter = usual === undefined ? "Enter for none" : `Enter for ${usual}`;
    const kept = current === undefined ? "" : `The model is ${current}.\n`;
    const question = `${kept}Which model should runs ask?\n${lines.join("")}A number, or provider/model; ${enter} > `;
    let complaint = "";
    for (;;) {
      const answer = await this.#ask(complaint + question);
      if (answer === "") return usual;
      const chosen = /^\d{1,3}$/.test(answer) ? choices[Number(answer) - 1]?.model : answer;
      if (chosen === undefined) {
        complaint = `There is no number ${answer}.\n`;
        continue;
      }
      try {
        return await this.#actorOf(chosen, found);
      } catch (error) {
        if (!(error instanceof AgentsError)) throw error;
        complaint = `${error.message}\n`;
      }
    }
  }

  /** Only where the provider cannot be asked yet, unless the caller brings a key. */
  async #giveKey(): Promise<void> {
    const { keyFrom, key } = this.#wishes;
    const model = (await this.#model()) ?? null;
    const provider = model === null ? undefined : modelNamed(model)?.provider;
    if (keyFrom !== undefined || key !== undefined) {
      if (provider === undefined) throw noProviderError();
      if (keyFrom !== undefined) return this.#store(`provider.${provider}.api-key-env`, this.#variable(keyFrom));
      return this.#store(`provider.${provider}.api-key`, key?.text.trim() ?? "");
    }
    if (!this.#asks || provider === undefined || (await this.#isUsable(model))) return;
    const setting = findSetting(`provider.${provider}.api-key`);
    let complaint = "";
    for (;;) {
      const answer = await this.#ask(
        `${complaint}The key for ${provider}, which is not shown (Enter for none) > `,
        true,
      );
      if (answer === "") return;
      const problem = setting.problem(answer);
      if (problem === undefined) return this.#store(setting.key, answer);
      complaint = `This cannot be the key: it ${problem}\n`;
    }
  }

  #variable(name: string): string {
    if (this.#app.environment[name] !== undefined) return name;
    throw new UsageError(`The environment variable ${shown(name)} is not set.`, {
      kept: `Kept: ${this.#stored.join(", ") || "nothing"}.`,
      next: [{ text: "name the variable that has the key" }],
    });
  }

  async #setCap(): Promise<void> {
    const setting = findSetting("budget.per-run");
    const { value: current = "" } = await this.#app.setting(setting.key);
    const wanted = this.#wishes.budgetPerRun;
    if (wanted !== undefined) return wanted === current ? undefined : this.#store(setting.key, wanted);
    if (!this.#asks) return;
    let complaint = "";
    for (;;) {
      const answer = await this.#ask(`${complaint}Dollars that one run may cost at most; Enter for ${current} > `);
      if (answer === "" || answer === current) return;
      const problem = setting.problem(answer);
      if (problem === undefined) return this.#store(setting.key, answer);
      complaint = `${shown(answer)} cannot be used: it ${problem}\n`;
    }
  }

  async #tryModel(): Promise<void> {
    const model = (await this.#model()) ?? null;
    if (model === null || !this.#wishes.test || !(await this.#isUsable(model))) return;
    const cost = await this.#costText(model);
    if (this.#asks) {
      const answer = await this.#ask(`Ask ${model} one short question to see that it works (${cost})? [Y/n] > `);
      if (/^no?$/i.test(answer)) return;
    }
    const started = performance.now();
    try {
      await this.#askOnce(model, LONGEST_ANSWER);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      this.#test = { outcome: "answered", text: `${model} answered in ${seconds} s.` };
    } catch (error) {
      if (!(error instanceof AgentsError)) throw error;
      this.#test = { outcome: "failed", text: `${model} did not answer: ${error.message}` };
    }
  }

  async #costText(model: string): Promise<string> {
    const named = modelNamed(model);
    const { providers } = await this.#app.models();
    const provider = providers.find(({ name }) => name === named?.provider);
    const price = provider?.prices.get("*") ?? provider?.facts(named?.model ?? "")?.price;
    if (provider?.local === true && price === undefined) return "on your machine";
    if (price === undefined) return "its price is not known";
    const dollars = (price.input * QUESTION_TOKENS + price.output * LONGEST_ANSWER) / 1_000_000;
    return `it costs at most $${dollars.toFixed(4)}`;
  }

  async #model(): Promise<string | undefined> {
    return (await this.#app.setting(defaultActorKey("execution"))).value;
  }

  /** An actor that is registered brings its own model; whether that can be asked is seen when it is asked. */
  async #isUsable(model: string | null): Promise<boolean> {
    const named = model === null ? undefined : modelNamed(model);
    if (named === undefined) return model !== null;
    const { providers } = await this.#app.models();
    return providers.some((one) => one.name === named.provider && isUsable(one));
  }

  async #store(key: string, value: string): Promise<void> {
    const setting = findSetting(key);
    const problem = setting.problem(value);
    if (problem !== undefined) throw valueError(key, value, problem);
    await storeSetting(this.#app, setting, { value });
    this.#stored.push(key);
  }

  async #ask(text: string, hidden = false): Promise<string> {
    const reply = await this.#call.ask({ kind: "value", text, hidden, shown: [] });
    if (reply.kind !== "text") throw new Left();
    return reply.text;
  }
}

/** Some models think before they say a word. */
const LONGEST_ANSWER = 64;
/** The question with everything that is sent around it. */
const QUESTION_TOKENS = 100;

function valueError(key: string, value: string, problem: string): ValidationError {
  const setting = key === "model" ? undefined : findSetting(key);
  const told = setting?.secret === true ? "The key" : shown(value);
  return new ValidationError(`${told} cannot be used for ${key}: ${problem}`, [{ path: key, message: problem }], {
    next: [nextStep("models.list")],
  });
}

function noProviderError(): UsageError {
  return new UsageError("A key belongs to the provider of a model, and no model is chosen.", {
    kept: "No key was stored.",
    next: [{ text: "repeat the command with --model <provider>/<model>" }],
  });
}
