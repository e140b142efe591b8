import type { LanguageModel } from "./sdk-types.ts";
import { copilotFetch } from "./copilot.ts";
import { hasCloudAccess } from "./cloud-providers.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { ModelError } from "../models/model-error.ts";
import type { ModelRef } from "../models/model.ts";
import { geminiFetch } from "./gemini-turns.ts";
import { openRouterBody } from "./openrouter.ts";
import type { Provider } from "./providers.ts";
import { nextStep } from "../../domain/errors/next-step.ts";

/**
 * Our providers as the library below knows them. Each is loaded when it is first asked. The endpoint and the key are
 * always handed over: the library would otherwise look into the environment for them by itself, and send a prompt to a
 * place that the user did not configure.
 */
export async function sdkModel(provider: Provider, ref: ModelRef): Promise<LanguageModel> {
  const made = MADE.get(provider) ?? new Map<string, LanguageModel>();
  MADE.set(provider, made);
  const model = made.get(ref.model) ?? (await makeModel(provider, ref));
  made.set(ref.model, model);
  return model;
}

/**
 * Making one costs half as much as a call, because the library builds its schemas then; nothing in one belongs to a
 * single call.
 */
const MADE = new WeakMap<Provider, Map<string, LanguageModel>>();

async function makeModel(provider: Provider, ref: ModelRef): Promise<LanguageModel> {
  const { baseUrl, idleTimeoutMs } = provider;
  if (baseUrl === undefined) throw new Error(`The provider "${provider.name}" has no endpoint.`);
  const apiKey = keyFor(provider, ref);
  const settings = {
    baseURL: baseUrl,
    fetch: fetchFor(provider, ref, guardedFetch({ model: ref, baseUrl, idleTimeoutMs })),
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
    case "azure": {
      const { createAzure } = await import("@ai-sdk/azure");
      return createAzure(settings)(ref.model);
    }
    case "bedrock": {
      const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
      return createAmazonBedrock({ ...settings, ...bedrockAccess(provider) })(ref.model);
    }
    case "vertex":
      return await vertexModel(provider, ref, settings);
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({
        ...settings,
        name: provider.name,
        includeUsage: true,
        supportsStructuredOutputs: true,
        ...(provider.name === "openrouter" ? { transformRequestBody: openRouterBody } : {}),
      })(ref.model);
    }
    case "scripted":
      throw new Error("A scripted provider has its own way of answering.");
  }
}

function fetchFor(provider: Provider, model: ModelRef, send: typeof globalThis.fetch): typeof globalThis.fetch {
  const { exchangeUrl, apiKey } = provider;
  if (isGemini(provider, model)) return geminiFetch(send);
  if (exchangeUrl === undefined) return send;
  return copilotFetch(send, { login: apiKey?.reveal(), exchangeUrl, model });
}

function isGemini({ type }: Provider, { model }: ModelRef): boolean {
  return type === "google" || (type === "vertex" && !model.startsWith("claude-"));
}

interface SdkSettings {
  readonly baseURL: string;
  readonly fetch: typeof globalThis.fetch;
  readonly apiKey?: string;
}

/** A key of Bedrock goes before the keys of the account, which sign each request. */
function bedrockAccess({ cloud, apiKey }: Provider): {
  region: string;
  accessKeyId?: string;
  secretAccessKey?: string;
  sessionToken?: string;
} {
  const { region = "us-east-1", accessKeyId, secretAccessKey, sessionToken } = cloud ?? {};
  if (apiKey !== undefined || accessKeyId === undefined || secretAccessKey === undefined) return { region };
  const session = sessionToken === undefined ? {} : { sessionToken: sessionToken.reveal() };
  return { region, accessKeyId, secretAccessKey: secretAccessKey.reveal(), ...session };
}

/** Claude is there under another publisher, which speaks Anthropic's own language. */
async function vertexModel(provider: Provider, ref: ModelRef, settings: SdkSettings): Promise<LanguageModel> {
  const { project = "", location = "global" } = provider.cloud ?? {};
  if (ref.model.startsWith("claude-")) {
    const { createVertexAnthropic } = await import("@ai-sdk/google-vertex/anthropic");
    const baseURL = `${settings.baseURL.replace(/\/publishers\/google$/, "")}/publishers/anthropic/models`;
    return createVertexAnthropic({ baseURL, fetch: settings.fetch, project, location })(ref.model);
  }
  const { createVertex } = await import("@ai-sdk/google-vertex");
  return createVertex({ ...settings, project, location })(ref.model);
}

/** Servers of one's own often want none, but three of the libraries insist on one. */
const NO_KEY = "none";

function keyFor({ type, local, apiKey, keyVariables, name, cloud }: Provider, model: ModelRef): string | undefined {
  if (apiKey !== undefined) return apiKey.reveal();
  if (type === "openai-compatible" || hasCloudAccess(type, cloud)) return undefined;
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
