import { isForbiddenHost, isLocalHost } from "../network/endpoint-address.ts";
import { nearest } from "../text/suggest.ts";
import { lineProblem } from "../text/text.ts";
import type { Setting } from "./settings.ts";

/**
 * The settings of providers of models. There are as many as the user has endpoints: `provider.<name>.<field>`, where
 * "ollama" or "vllm" is simply the name of an endpoint that speaks OpenAI's language.
 */
export const PROVIDER_TYPES = [
  "openai",
  "anthropic",
  "google",
  "azure",
  "bedrock",
  "vertex",
  "openai-compatible",
  "scripted",
] as const;
export type ProviderType = (typeof PROVIDER_TYPES)[number];

export const PROVIDER_FIELDS = [
  "type",
  "base-url",
  "api-key",
  "api-key-env",
  "models",
  "images",
  "prices",
  "fallbacks",
  "timeout",
  "tries",
  "transcript",
] as const;
export type ProviderField = (typeof PROVIDER_FIELDS)[number];

const KEY = /^provider\.([^.]+)\.([^.]+)$/;
export const PROVIDER_NAME = /^[a-z][a-z0-9-]{0,39}$/;
const TIMEOUT_LIMIT_S = 3_600;
const TRIES_LIMIT = 20;

/** The variables that the companies' own programs read; a user who set them means them here too. */
const BASE_URL_VARIABLES: Readonly<Record<string, string>> = {
  openai: "OPENAI_BASE_URL",
  anthropic: "ANTHROPIC_BASE_URL",
  google: "GOOGLE_GEMINI_BASE_URL",
};

/** Where a provider's key is looked for when nothing else is configured, the first one that is set. */
export function keyVariables(provider: string): readonly string[] {
  if (provider === "google") return ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"];
  if (provider === "bedrock") return ["AWS_BEARER_TOKEN_BEDROCK"];
  if (provider === "vertex") return ["GOOGLE_VERTEX_API_KEY"];
  return [`${upper(provider)}_API_KEY`];
}

/** The type of a provider that does not say: four names speak for themselves. */
export function defaultType(provider: string): ProviderType {
  return PROVIDER_TYPES.find((type) => type === provider) ?? "openai-compatible";
}

/** The setting of such a key; undefined when it is none. `key` is what the user wrote, so it may be close to one. */
export function providerSetting(key: string): Setting | undefined {
  const [, name = "", word = ""] = KEY.exec(key) ?? [];
  const field = PROVIDER_FIELDS.find((one) => one === word);
  if (!PROVIDER_NAME.test(name) || field === undefined) return undefined;
  return {
    key,
    env: variableOf(name, field),
    default: field === "type" ? defaultType(name) : undefined,
    description: DESCRIPTIONS[field].replace("<name>", name),
    perProject: false,
    secret: field === "api-key-env" ? "when wrong" : field === "api-key",
    problem: PROBLEMS[field],
  };
}

/** The key the user may have meant. */
export function nearProviderSetting(key: string): string | undefined {
  const [, name = "", word = ""] = KEY.exec(key) ?? [];
  if (!PROVIDER_NAME.test(name)) return undefined;
  const field = nearest(word, PROVIDER_FIELDS);
  return field === undefined ? undefined : `provider.${name}.${field}`;
}

/** The names of the providers these keys speak of. */
export function providerNames(keys: Iterable<string>): string[] {
  const names = new Set<string>();
  for (const key of keys) {
    const [, name = ""] = KEY.exec(key) ?? [];
    if (PROVIDER_NAME.test(name)) names.add(name);
  }
  return [...names].sort();
}

/** Those of the keys that are settings of providers. One that is none is not for a list to complain about. */
export function providerSettingKeys(keys: Iterable<string>): string[] {
  return [...keys].filter((key) => providerSetting(key) !== undefined).sort();
}

function variableOf(name: string, field: ProviderField): string {
  if (field === "api-key") return keyVariables(name)[0] ?? "";
  const own = field === "base-url" ? BASE_URL_VARIABLES[name] : undefined;
  return own ?? `CLEVERAGENTS_PROVIDER_${upper(name)}_${upper(field)}`;
}

function upper(words: string): string {
  return words.toUpperCase().replaceAll("-", "_");
}

const DESCRIPTIONS: Readonly<Record<ProviderField, string>> = {
  type: `The protocol of <name>: ${PROVIDER_TYPES.join(", ")}`,
  "base-url": "The endpoint of <name>; its models are asked there and nowhere else",
  "api-key": "The key for <name>, kept in a private file of its own; better kept in the environment",
  "api-key-env": "The environment variable that holds the key for <name>",
  models: "The models of <name> to offer as actors, separated by commas",
  images: "The models of <name> that can see images, separated by commas; * is every one",
  prices:
    "Dollars per million tokens: model=input/output[/cache read[/cache write]], separated by commas; * is every other",
  fallbacks: "Whom to ask when <name> cannot be reached: provider/model, separated by commas",
  timeout: "Seconds without a sign of life after which a call of <name> is given up",
  tries: "How often a call of <name> is sent before it fails, when waiting may help",
  transcript: "The file with the answers of <name>, if it is scripted",
};

const filled = (value: string): string | undefined =>
  value.trim() === "" ? "must not be empty" : lineProblem(value, 4_096);

const PROBLEMS: Readonly<Record<ProviderField, (value: string) => string | undefined>> = {
  type: (value) =>
    PROVIDER_TYPES.some((type) => type === value) ? undefined : `must be one of ${PROVIDER_TYPES.join(", ")}`,
  "base-url": baseUrlProblem,
  "api-key": (value) => (/^[\x21-\x7e]{1,4096}$/.test(value) ? undefined : "must be a key without spaces"),
  "api-key-env": (value) =>
    /^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(value)
      ? undefined
      : "must be the name of an environment variable, not the key itself",
  models: (value) =>
    firstProblem(value, (item) => (/^\S{1,200}$/.test(item) ? undefined : "is not the name of a model")),
  images: (value) =>
    firstProblem(value, (item) => (/^\S{1,200}$/.test(item) ? undefined : "is not the name of a model")),
  prices: (value) =>
    firstProblem(value, (item) =>
      parsePrice(item) === undefined
        ? 'is not of the form model=input/output or model=input/output/read/write, as in "gpt-4o=2.50/10"'
        : undefined,
    ),
  fallbacks: (value) =>
    firstProblem(value, (item) =>
      /^[a-z][a-z0-9-]{0,39}\/\S{1,200}$/.test(item) ? undefined : "is not of the form provider/model",
    ),
  timeout: (value) =>
    /^[1-9]\d{0,3}$/.test(value) && Number(value) <= TIMEOUT_LIMIT_S
      ? undefined
      : `must be a whole number of seconds from 1 to ${TIMEOUT_LIMIT_S}`,
  tries: (value) =>
    /^[1-9]\d?$/.test(value) && Number(value) <= TRIES_LIMIT
      ? undefined
      : `must be a whole number from 1 to ${TRIES_LIMIT}`,
  transcript: filled,
};

function firstProblem(list: string, problem: (item: string) => string | undefined): string | undefined {
  const wrong = filled(list);
  if (wrong !== undefined) return wrong;
  for (const item of listItems(list)) {
    const found = problem(item);
    if (found !== undefined) return `"${item}" ${found}`;
  }
  return undefined;
}

export function listItems(list: string): string[] {
  return list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** Dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Of input the provider kept from before; as `input` when it is not known. */
  readonly cachedInput?: number;
  /** Of input the provider keeps for later; as `input` when it is not known. */
  readonly cacheWrite?: number;
}

const AMOUNT = /^\d{1,6}(?:\.\d{1,6})?$/;

export function parsePrice(item: string): { model: string; price: Price } | undefined {
  const [, model = "", amounts = ""] = /^(\S+)=([\d./]+)$/.exec(item) ?? [];
  const parts = amounts.split("/");
  if (model === "" || parts.length < 2 || parts.length > 4 || !parts.every((part) => AMOUNT.test(part)))
    return undefined;
  const [input = 0, output = 0, cachedInput, cacheWrite] = parts.map(Number);
  return {
    model,
    price: {
      input,
      output,
      ...(cachedInput === undefined ? {} : { cachedInput }),
      ...(cacheWrite === undefined ? {} : { cacheWrite }),
    },
  };
}

/**
 * Prompts and keys go there, so it is https, except on this machine or its own network. A name and a password in it
 * would get into every message about it.
 */
export function baseUrlProblem(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    return "must be a URL that begins with https://";
  if (url.username !== "" || url.password !== "") return "must not hold a name and a password; use api-key-env";
  if (url.search !== "" || url.hash !== "") return "must not have a query or a fragment";
  if (isForbiddenHost(url.hostname)) {
    return "must not be a link-local address or one where a cloud answers with the machine's credentials";
  }
  if (url.protocol === "http:" && !isLocalHost(url.hostname)) {
    return "must begin with https://, because prompts and keys would travel unprotected; http:// is for this machine and its own network (127.0.0.1, 192.168.1.4, name.local)";
  }
  return undefined;
}
