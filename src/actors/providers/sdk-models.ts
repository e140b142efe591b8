import type { LanguageModel } from "./sdk-types.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { ModelError } from "../models/model-error.ts";
import type { ModelRef } from "../models/model.ts";
import type { Provider } from "./providers.ts";
import { nextStep } from "../../domain/next-step.ts";

/**
 * Our providers as the library below knows them. Each is loaded when it is first asked. The endpoint and the key are always handed over:
 * the library would otherwise look into the environment for them by itself, and send a prompt to where nobody configured.
 */
export async function sdkModel(provider: Provider, ref: ModelRef): Promise<LanguageModel> {
  const made = MADE.get(provider) ?? new Map<string, LanguageModel>();
  MADE.set(provider, made);
  const model = made.get(ref.model) ?? (await makeModel(provider, ref));
  made.set(ref.model, model);
  return model;
}

/** Making one costs half as much as a call, because the library builds its schemas then; nothing in one belongs to a single call. */
const MADE = new WeakMap<Provider, Map<string, LanguageModel>>();

async function makeModel(provider: Provider, ref: ModelRef): Promise<LanguageModel> {
  const { baseUrl, idleTimeoutMs } = provider;
  if (baseUrl === undefined) throw new Error(`The provider "${provider.name}" has no endpoint.`);
  const apiKey = keyFor(provider, ref);
  const settings = {
    baseURL: baseUrl,
    fetch: guardedFetch({ model: ref, baseUrl, idleTimeoutMs }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
  switch (provider.type) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(settings)(ref.model);
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(settings)(ref.model);
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return createGoogleGenerativeAI(settings)(ref.model);
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({
        ...settings,
        name: provider.name,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(ref.model);
    }
    case "scripted":
      throw new Error("A scripted provider has its own way of answering.");
  }
}

/** Servers of one's own often want none, but three of the libraries insist on one. */
const NO_KEY = "none";

function keyFor({ type, local, apiKey, keyVariables, name }: Provider, model: ModelRef): string | undefined {
  if (apiKey !== undefined) return apiKey.reveal();
  if (type === "openai-compatible") return undefined;
  if (local) return NO_KEY;
  throw new ModelError(
    "authentication",
    `There is no key for ${name}: none of ${keyVariables.join(", ")} is set.`,
    { model },
    {
      next: [
        { text: `export ${keyVariables[0]}=…` },
        nextStep("config.set", { key: `provider.${name}.api-key-env`, value: "<variable>" }),
      ],
    },
  );
}
