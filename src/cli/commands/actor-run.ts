import { UsageError } from "../../domain/errors.ts";
import { dollars } from "../../domain/money.ts";
import type { ModelAnswer, ModelRef, ModelSettings } from "../../actors/model.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { count } from "../format.ts";
import { interruptible } from "../interrupt.ts";
import type { Message, Outcome } from "../outcome.ts";
import { budgetWarning } from "./budget-data.ts";

/**
 * One question to a model, outside of any plan and without tools. The answer alone is on stdout, so that it can be piped: to a person as it
 * arrives, to a program when it is complete.
 */
export async function actorRun(context: CommandContext, input: Input): Promise<Outcome> {
  const model = modelOf(input.argument(0));
  const prompt = input.arguments(1).join(" ").trim();
  if (prompt === "") {
    throw new UsageError("What is the model to be asked?", {
      kept: "Nothing was sent.",
      next: [`agents actor run ${input.argument(0)} "<question>"`],
    });
  }
  const settings = settingsOf(input);
  const warnings: Message[] = [];
  const models = await context.budgetedModels(undefined, (warning) => void warnings.push(budgetWarning(warning)));
  const machine = ["json", "yaml"].includes(await context.format());
  const live = !machine && process.stdout.isTTY;
  const { signal, stop } = interruptible();
  try {
    const answer = await models.call({
      model,
      system: input.text("system") ?? "",
      messages: [{ role: "user", content: prompt }],
      tools: [],
      settings,
      signal,
      ...(live ? { onText: (text: string) => void process.stdout.write(text) } : {}),
    });
    const cost = models.costOf(answer.model, answer.usage);
    const messages = [...warnings, ...messagesOf(answer, cost, model)];
    if (!machine) {
      for (const { level, text } of messages)
        process.stderr.write(`${level === "warning" ? "warning: " : ""}${text}\n`);
    }
    return {
      data: {
        actor_run: { actor: `${model.provider}/${model.model}`, answered_by: nameOf(answer.model), prompt },
        response: answer.text,
        usage: {
          input_tokens: answer.usage.inputTokens,
          output_tokens: answer.usage.outputTokens,
          estimated: answer.usage.estimated,
          cost_usd: cost === undefined ? null : cost / 1_000_000,
          duration_ms: Math.round(answer.durationMs),
          attempts: answer.attempts.length,
          masked_secrets: answer.masked,
        },
        finish: answer.finish,
      },
      view: [],
      messages,
      raw: live ? "\n" : `${answer.text.trimEnd()}\n`,
    };
  } finally {
    stop();
  }
}

/** The part before the first slash is the provider's: models have slashes of their own. */
function modelOf(name: string): ModelRef {
  const [, provider, model] = /^([^/]+)\/(.+)$/s.exec(name) ?? [];
  if (provider !== undefined && model !== undefined) return { provider, model };
  throw new UsageError(`"${name}" names no model.`, {
    kept: "Nothing was sent.",
    next: ["agents actor list", 'name it as <provider>/<model>: agents actor run openai/gpt-4o "<question>"'],
  });
}

function settingsOf(input: Input): ModelSettings {
  const temperature = numberOf(input, "temperature", (value) => value >= 0 && value <= 2, "from 0 to 2");
  const whole = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;
  const maxOutputTokens = numberOf(input, "maxOutputTokens", whole, "a whole number, at least 1");
  return {
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

function messagesOf(answer: ModelAnswer, cost: number | undefined, asked: ModelRef): Message[] {
  const { inputTokens, outputTokens } = answer.usage;
  const price = cost === undefined ? "at a price that is not known" : `for ${dollars(cost)}`;
  const messages: Message[] = [];
  if (nameOf(answer.model) !== nameOf(asked)) {
    messages.push({ level: "warning", text: `${nameOf(asked)} did not answer; ${nameOf(answer.model)} did.` });
  }
  if (answer.finish === "length") messages.push({ level: "warning", text: "The answer was cut off at its limit." });
  if (answer.text.trim() === "") messages.push({ level: "warning", text: "The answer is empty." });
  if (answer.masked > 0) messages.push({ level: "info", text: `${count(answer.masked, "secret")} masked.` });
  const used = `${inputTokens} tokens in, ${outputTokens} out, ${price}`;
  messages.push({ level: "info", text: answer.usage.estimated ? `${used} (counted here).` : `${used}.` });
  return messages;
}

function nameOf({ provider, model }: ModelRef): string {
  return `${provider}/${model}`;
}
