import { listOf, ownStrategy, STAGE_NAMES, TOKENIZER_NAMES } from "../../domain/settings/context-settings.ts";
import { parseTokens } from "../../domain/context/context-policy.ts";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { secretValues } from "../../domain/secrets/redaction.ts";
import { isLocalHost } from "../../domain/network/endpoint-address.ts";
import type { EmbeddingEndpoint, StageName, TokenizerName } from "../model/context-model.ts";
import type { Environment } from "../../domain/values/environment.ts";

/** The settings of context assembly (`src/domain/settings/context-settings.ts`), read and typed. */
export interface ContextConfiguration {
  /** Undefined: all strategies that exist. */
  readonly enabled: readonly string[] | undefined;
  readonly own: readonly { readonly name: string; readonly module: string }[];
  /** Files and directories whose code may be loaded. */
  readonly trusted: readonly string[];
  readonly stages: Readonly<Partial<Record<StageName, string>>>;
  readonly model: string | undefined;
  /** Undefined: by the model. */
  readonly tokenizer: TokenizerName | undefined;
  readonly window: {
    readonly modelWindow: number;
    readonly responseReserve: number;
    readonly toolDefinitions: number;
    readonly systemPrompt: number;
  };
  readonly embedding: EmbeddingEndpoint | undefined;
}

/**
 * `value` returns the value of a key, or its default; all values have been checked. The key of the embedding service is
 * read from `environment`.
 */
export async function contextConfiguration(
  value: (key: string) => Promise<string | undefined>,
  environment: Environment,
): Promise<ContextConfiguration> {
  const enabled = await value("context.strategies.enabled");
  const stages: Partial<Record<StageName, string>> = {};
  for (const stage of STAGE_NAMES) {
    const module = await value(`context.stage.${stage}`);
    if (module !== undefined) stages[stage] = module;
  }
  const tokenizer = await value("context.tokenizer");
  const tokens = async (key: string): Promise<number> => parseTokens((await value(key)) ?? "0", key, 0);
  return {
    enabled: enabled === undefined ? undefined : listOf(enabled),
    own: listOf(await value("context.strategies.own")).flatMap((item) => ownStrategy(item) ?? []),
    trusted: listOf(await value("context.trusted-modules")),
    stages,
    model: await value("context.model"),
    tokenizer: TOKENIZER_NAMES.find((name) => name === tokenizer),
    window: {
      modelWindow: await tokens("context.model-window"),
      responseReserve: await tokens("context.response-reserve"),
      toolDefinitions: await tokens("context.tool-definitions"),
      systemPrompt: await tokens("context.system-prompt"),
    },
    embedding: await embeddingOf(value, environment),
  };
}

/** Half a configuration is an error: a strategy that silently stays off would be noticed much later. */
async function embeddingOf(
  value: (key: string) => Promise<string | undefined>,
  environment: Environment,
): Promise<EmbeddingEndpoint | undefined> {
  const [url, model] = [await value("context.embedding.url"), await value("context.embedding.model")];
  if (url === undefined && model === undefined) return undefined;
  if (url !== undefined && model !== undefined) {
    const [price, variable] = [await value("context.embedding.price"), await value("context.embedding.api-key-env")];
    return {
      url,
      model,
      key: variable === undefined ? undefined : { variable, value: environment[variable] },
      secrets: secretValues(environment),
      price: price === undefined ? freeOn(url) : Number(price),
    };
  }
  const missing = url === undefined ? "context.embedding.url" : "context.embedding.model";
  throw new ConfigurationError(`Embeddings are only half configured: ${missing} is not set.`, {
    kept: "Nothing was changed.",
    next: [nextStep("config.set", { key: missing, value: "<value>" })],
  });
}

/** A service on this machine costs nothing. */
function freeOn(url: string): number | undefined {
  return isLocalHost(new URL(url).hostname) ? 0 : undefined;
}
