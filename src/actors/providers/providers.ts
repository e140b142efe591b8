import { isLocalHost } from "../../domain/network/endpoint-address.ts";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import {
  defaultType,
  keyVariables,
  listItems,
  parsePrice,
  providerNames,
  providerSetting,
  PROVIDER_TYPES,
  type Price,
  type ProviderField,
  type ProviderType,
} from "../../domain/settings/provider-settings.ts";
import { secretValues } from "../../domain/secrets/redaction.ts";
import { Secret } from "../../domain/secrets/secret.ts";
import { findSetting, resolveSetting, type Setting } from "../../domain/settings/settings.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { shown } from "../../domain/text/text.ts";
import type { ModelRef } from "../models/model.ts";
import { PACKAGED_FACTS, type FactsCatalog, type ModelFacts } from "../models/model-facts.ts";
import { COPILOT } from "./copilot.ts";
import { cloudAccess, cloudEndpoint, hasCloudAccess, type CloudAccess } from "./cloud-providers.ts";
import { TRIES } from "./retry.ts";
import type { Environment } from "../../domain/values/environment.ts";

/**
 * A provider as it is configured: one endpoint, one key, and nothing that could lead anywhere else. A call names its
 * provider; which endpoint that is, is decided here alone, and there is no default to fall back to.
 */
export interface Provider {
  readonly name: string;
  readonly type: ProviderType;
  /** Where its models are asked; undefined for a scripted one. */
  readonly baseUrl: string | undefined;
  /** Prompts to it stay on this machine or its network: such a provider never falls back to one that is not local. */
  readonly local: boolean;
  readonly apiKey: Secret | undefined;
  /** Where the key is looked for. */
  readonly keyVariables: readonly string[];
  /** Those to offer as actors; others may be asked as well. */
  readonly models: readonly string[];
  /** Those that can see images, besides those of which it is publicly known; "*" is every one. */
  readonly images: ReadonlySet<string>;
  readonly prices: ReadonlyMap<string, Price>;
  readonly fallbacks: readonly ModelRef[];
  readonly idleTimeoutMs: number;
  /** How often one call is sent at most. */
  readonly tries: number;
  /** The file of a scripted provider. */
  readonly transcript: string | undefined;
  /** The public facts of a model of it. */
  readonly facts: (model: string) => ModelFacts | undefined;
  readonly cloud: CloudAccess | undefined;
  /** Where its login is exchanged for a token that holds for a while. */
  readonly exchangeUrl: string | undefined;
  /** It is the endpoint of an actor: no other may stand in for it. */
  readonly bound?: true;
}

/** By name: a key is all that they need. */
const PUBLIC_ENDPOINTS: ReadonlyMap<string, string> = new Map([
  ["openai", "https://api.openai.com/v1"],
  ["anthropic", "https://api.anthropic.com/v1"],
  ["google", "https://generativelanguage.googleapis.com/v1beta"],
  ["openrouter", "https://openrouter.ai/api/v1"],
  [COPILOT, "https://api.githubcopilot.com"],
]);

/** Local models may take minutes to read a long prompt before they say a word. */
const IDLE_TIMEOUT_S = 240;

/** The name under which the configured transcript of a scripted provider is offered. */
export const CONFIGURED_TRANSCRIPT = "transcript";

/**
 * The providers that can be asked: a key is there, or an endpoint of one's own, or a transcript. `settings` are the
 * values of the configuration file.
 */
export function configuredProviders(
  settings: ReadonlyMap<string, string>,
  environment: Environment,
  facts: FactsCatalog = PACKAGED_FACTS,
): Provider[] {
  return knownProviders(settings, environment, facts).filter(isUsable);
}

/** All that have a name, whether they can be asked or not. */
export function knownProviders(
  settings: ReadonlyMap<string, string>,
  environment: Environment,
  facts: FactsCatalog,
): Provider[] {
  const names = new Set([
    ...PROVIDER_TYPES.filter((type) => type !== "openai-compatible"),
    ...PUBLIC_ENDPOINTS.keys(),
    ...providerNames(settings.keys()),
  ]);
  return [...names].map((name) => providerNamed(name, { settings, environment, facts }));
}

/** Values that no model may be shown: keys of providers, and variables that are named like secrets. Longest first. */
export function secretsToMask(providers: readonly Provider[], environment: Environment): string[] {
  const keys = providers.flatMap(({ apiKey }) => (apiKey === undefined ? [] : [apiKey.reveal()]));
  return [...new Set([...keys, ...secretValues(environment)])].sort((a, b) => b.length - a.length);
}

/** The one provider a call may go to. */
export function requireProvider(providers: readonly Provider[], ref: ModelRef, why = ""): Provider {
  if (ref.baseUrl !== undefined) return boundProvider(providers, ref, ref.baseUrl);
  const provider = providers.find(({ name }) => name === ref.provider);
  if (provider !== undefined) return provider;
  const names = providers.map(({ name }) => name);
  const near = nearest(ref.provider, names);
  const builtIn = PROVIDER_TYPES.some((type) => type === ref.provider);
  throw new ConfigurationError(
    `The provider ${shown(ref.provider)} is not configured${why}${near === undefined ? "." : `; did you mean "${near}"?`}`,
    {
      kept: "Nothing was sent.",
      next: builtIn
        ? [
            { text: `export ${keyVariables(ref.provider)[0]}=…` },
            nextStep("config.set", { key: `provider.${ref.provider}.base-url`, value: "<url>" }),
          ]
        : [nextStep("config.set", { key: "provider.<name>.base-url", value: "<url>" }), nextStep("config.list")],
      detail: { provider: ref.provider, configured: names },
    },
  );
}

/** A model of a local endpoint is never sent anywhere else, not even when the user listed a fallback by mistake. */
export function checkFallbacks(
  provider: Provider,
  fallbacks: readonly ModelRef[],
  providers: readonly Provider[],
): void {
  const [first] = fallbacks;
  if (provider.bound === true && first !== undefined) {
    throw new ConfigurationError(
      `An actor asks at ${provider.baseUrl} and nowhere else, so ${first.provider}/${first.model} cannot stand in for it.`,
      {
        kept: "Nothing was sent.",
        detail: { endpoint: provider.baseUrl, fallback: `${first.provider}/${first.model}` },
      },
    );
  }
  for (const ref of fallbacks) {
    const other = requireProvider(providers, ref, `, but ${provider.name} is to fall back to it`);
    if (provider.local && !other.local) {
      throw new ConfigurationError(
        `${provider.name} is a local endpoint, so ${ref.provider}/${ref.model}, which is not, cannot stand in for it.`,
        {
          kept: "Nothing was sent.",
          next: [
            nextStep("config.set", { key: `provider.${provider.name}.fallbacks`, value: "<local provider>/<model>" }),
          ],
          detail: { provider: provider.name, fallback: `${ref.provider}/${ref.model}` },
        },
      );
    }
  }
}

function providerNamed(
  name: string,
  world: { settings: ReadonlyMap<string, string>; environment: Environment; facts: FactsCatalog },
): Provider {
  const { settings, environment, facts } = world;
  const resolved = (setting: Setting): string | undefined =>
    resolveSetting(setting, { environment, global: settings, project: new Map() }).value;
  const global = (key: string): string => resolved(findSetting(key)) ?? "";
  const value = (field: ProviderField): string | undefined => {
    const setting = providerSetting(`provider.${name}.${field}`);
    return setting === undefined ? undefined : resolved(setting);
  };
  const type = (value("type") ?? defaultType(name)) as ProviderType;
  const own = value("base-url");
  const cloud = cloudAccess(type, environment);
  const baseUrl = type === "scripted" ? undefined : endpoint(type, own ?? cloudEndpoint(type, environment), name);
  const variable = value("api-key-env");
  const variables = variable === undefined ? keyVariables(name) : [variable];
  const key = variables.map((one) => environment[one]).find((one) => one !== undefined && one !== "");
  // A variable that was named for it is the only place: another key must not go to this endpoint.
  const apiKey = key ?? (variable === undefined ? settings.get(`provider.${name}.api-key`) : undefined);
  const transcript = value("transcript");
  const models = value("models");
  return {
    name,
    type,
    baseUrl,
    local: baseUrl === undefined ? type === "scripted" : isLocalHost(new URL(baseUrl).hostname),
    apiKey: apiKey === undefined ? undefined : new Secret(apiKey),
    keyVariables: variables,
    models: models === undefined ? offeredModels(name, type, own, transcript) : listItems(models),
    images: new Set(listItems(value("images") ?? "")),
    prices: new Map(
      listItems(value("prices") ?? "").flatMap((item) => {
        const parsed = parsePrice(item);
        return parsed === undefined ? [] : [[parsed.model, parsed.price] as const];
      }),
    ),
    fallbacks: listItems(value("fallbacks") ?? "").map(parseModelRef),
    idleTimeoutMs: Number(value("timeout") ?? IDLE_TIMEOUT_S) * 1000,
    tries: Number(value("tries") ?? TRIES),
    transcript,
    facts: (model) => facts.factsOf(type, name, model),
    cloud,
    exchangeUrl: name === COPILOT ? `${global("login.github-api-url")}/copilot_internal/v2/token` : undefined,
  };
}

/**
 * The endpoint of an actor. The settings of the provider it names are for the provider's endpoint, not for this one:
 * neither its key nor its fallbacks belong here, unless it is the same endpoint.
 */
function boundProvider(providers: readonly Provider[], ref: ModelRef, baseUrl: string): Provider {
  const made = BOUND.get(providers) ?? new Map<string, Provider>();
  BOUND.set(providers, made);
  const key = `${ref.provider} ${baseUrl}`;
  const provider = made.get(key) ?? makeBound(providers, ref, baseUrl);
  made.set(key, provider);
  return provider;
}

/** The same one for each call: models are kept by their provider. */
const BOUND = new WeakMap<readonly Provider[], Map<string, Provider>>();

function makeBound(providers: readonly Provider[], ref: ModelRef, baseUrl: string): Provider {
  const configured = providers.find(({ name }) => name === ref.provider);
  if (configured?.baseUrl === baseUrl) return { ...configured, fallbacks: [], bound: true };
  const known = configured?.type ?? defaultType(ref.provider);
  // Servers that stand in for OpenAI's speak its older language; not all of them its newer one.
  const type = known === "anthropic" || known === "google" ? known : "openai-compatible";
  const local = isLocalHost(new URL(baseUrl).hostname);
  if (type !== "openai-compatible" && !local) {
    throw new ConfigurationError(
      `The endpoint ${baseUrl} wants a key, which an actor cannot have: make it a provider, and name that in the actor.`,
      {
        kept: "Nothing was sent.",
        next: [
          nextStep("config.set", { key: "provider.<name>.base-url", value: baseUrl }),
          nextStep("config.set", { key: "provider.<name>.type", value: type }),
        ],
      },
    );
  }
  return {
    name: ref.provider,
    type,
    baseUrl: endpoint(type, baseUrl, ref.provider),
    local,
    apiKey: undefined,
    keyVariables: [],
    models: [],
    images: configured?.images ?? new Set(),
    prices: new Map(),
    fallbacks: [],
    idleTimeoutMs: configured?.idleTimeoutMs ?? IDLE_TIMEOUT_S * 1000,
    tries: configured?.tries ?? TRIES,
    transcript: undefined,
    facts: configured?.facts ?? ((model) => PACKAGED_FACTS.factsOf(type, ref.provider, model)),
    cloud: undefined,
    exchangeUrl: undefined,
    bound: true,
  };
}

/** "provider/model"; a model's own name may hold slashes. */
export function parseModelRef(text: string): ModelRef {
  const slash = text.indexOf("/");
  return { provider: text.slice(0, slash), model: text.slice(slash + 1) };
}

/** Anthropic's programs leave the version out of their variable; the library below wants it in. */
function endpoint(type: ProviderType, own: string | undefined, name: string): string | undefined {
  const url = (own ?? publicEndpoint(name, type))?.replace(/\/+$/, "");
  return type === "anthropic" && url !== undefined && new URL(url).pathname === "/" ? `${url}/v1` : url;
}

/** An endpoint of one's own may have any models, so only those it was given are offered. */
function offeredModels(
  name: string,
  type: ProviderType,
  own: string | undefined,
  transcript: string | undefined,
): readonly string[] {
  if (type === "scripted") return transcript === undefined ? [] : [CONFIGURED_TRANSCRIPT];
  return own === undefined ? PACKAGED_FACTS.modelsOf(type, name) : [];
}

/** A key is there, or nothing says that one is needed. */
export function isUsable({ name, type, baseUrl, apiKey, local, cloud }: Provider): boolean {
  if (type === "scripted") return true;
  if (baseUrl === undefined) return false;
  if (apiKey !== undefined || local) return true;
  if (type === "azure" || type === "bedrock" || type === "vertex") return hasCloudAccess(type, cloud);
  return publicEndpoint(name, type) !== baseUrl;
}

function publicEndpoint(name: string, type: ProviderType): string | undefined {
  return PUBLIC_ENDPOINTS.get(name) ?? PUBLIC_ENDPOINTS.get(type);
}
