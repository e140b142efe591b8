import { isForbiddenHost } from "../network/endpoint-address.ts";
import { parseTokens } from "../context/context-policy.ts";
import type { Setting } from "./settings.ts";
import { lineProblem, shown, textProblem } from "../text/text.ts";

/**
 * The configuration of context assembly. Settings that load code (custom strategies and stages) only name it: a module
 * is loaded when its file, or a directory above it, is among `context.trusted-modules`, which only the user's own
 * configuration can set.
 */
export const STAGE_NAMES = [
  "select",
  "allocate",
  "execute",
  "deduplicate",
  "resolve_depth",
  "score",
  "pack",
  "order",
  "preamble",
] as const;

export const TOKENIZER_NAMES = ["o200k_base", "cl100k_base"] as const;

const STRATEGY_NAME = /^[a-z][a-z0-9-]{0,63}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The items of a comma-separated value, without the blanks around them. */
export function listOf(value: string | undefined): string[] {
  return (value ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** `name=/path/to/module.mjs`, or undefined when it is not that. */
export function ownStrategy(item: string): { name: string; module: string } | undefined {
  const equals = item.indexOf("=");
  const [name, module] = [item.slice(0, equals).trim(), item.slice(equals + 1).trim()];
  return equals > 0 && STRATEGY_NAME.test(name) && isModulePath(module) ? { name, module } : undefined;
}

function isModulePath(text: string): boolean {
  return text.startsWith("/") && textProblem(text, 4096) === undefined;
}

function each(problem: (item: string) => string | undefined): Setting["problem"] {
  return (value) => {
    const items = listOf(value);
    if (items.length === 0) return "must name at least one, comma-separated";
    return items.map(problem).find((found) => found !== undefined);
  };
}

function tokens(value: string): string | undefined {
  try {
    parseTokens(value, "", 0);
    return undefined;
  } catch {
    return "must be a number of tokens like 8000 or 32k";
  }
}

function url(value: string): string | undefined {
  if (!URL.canParse(value)) return "must be a URL like http://localhost:11434/v1";
  const { protocol, username, password, hostname } = new URL(value);
  if (!["http:", "https:"].includes(protocol)) return "must begin with http:// or https://";
  if (isForbiddenHost(hostname)) return "must not be a link-local address";
  return username === "" && password === "" ? undefined : "must not hold a name or password";
}

const text: Setting["problem"] = (value) => (value.trim() === "" ? "must not be empty" : lineProblem(value, 200));
const module: Setting["problem"] = (value) =>
  isModulePath(value) ? undefined : "must be the absolute path of an ES module";

type Described = Omit<Setting, "env">;

const DESCRIBED: readonly Described[] = [
  {
    key: "context.strategies.enabled",
    default: undefined,
    description: "The strategies that may be selected, comma-separated (otherwise all)",
    perProject: true,
    problem: each((name) => (STRATEGY_NAME.test(name) ? undefined : `${shown(name)} is not the name of a strategy`)),
  },
  {
    key: "context.strategies.own",
    default: undefined,
    description: "Strategies of your own: name=/path/to/module.mjs, comma-separated; must be trusted",
    perProject: true,
    problem: each((item) =>
      ownStrategy(item) === undefined ? `${shown(item)} is not name=/path/to/module.mjs` : undefined,
    ),
  },
  {
    key: "context.trusted-modules",
    default: undefined,
    description: "Files and directories whose code may be loaded as strategies and stages, comma-separated",
    perProject: false,
    problem: each((path) => (isModulePath(path) ? undefined : `${shown(path)} is not an absolute path`)),
  },
  ...STAGE_NAMES.map((stage) => ({
    key: `context.stage.${stage}`,
    default: undefined,
    description: `A module instead of the built-in stage ${stage}; must be trusted`,
    perProject: true,
    problem: module,
  })),
  {
    key: "context.model",
    default: undefined,
    description: "The model that context is made for; it decides the tokenizer",
    perProject: true,
    problem: text,
  },
  {
    key: "context.tokenizer",
    default: undefined,
    description: `How tokens are counted: ${TOKENIZER_NAMES.join(", ")} (otherwise by the model)`,
    perProject: true,
    problem: (value) =>
      TOKENIZER_NAMES.some((name) => name === value) ? undefined : `must be one of ${TOKENIZER_NAMES.join(", ")}`,
  },
  {
    key: "context.model-window",
    default: "128000",
    description: "How many tokens the model takes in all",
    perProject: true,
    problem: tokens,
  },
  {
    key: "context.response-reserve",
    default: "4096",
    description: "Tokens of the window kept for the answer",
    perProject: true,
    problem: tokens,
  },
  {
    key: "context.tool-definitions",
    default: "2400",
    description: "Tokens of the window kept for the definitions of tools",
    perProject: true,
    problem: tokens,
  },
  {
    key: "context.system-prompt",
    default: "1200",
    description: "Tokens of the window kept for the system prompt",
    perProject: true,
    problem: tokens,
  },
  {
    key: "context.embedding.url",
    default: undefined,
    description: "An OpenAI-compatible endpoint for embeddings; without it nothing is embedded or sent",
    perProject: true,
    problem: url,
  },
  {
    key: "context.embedding.model",
    default: undefined,
    description: "The embedding model at that endpoint",
    perProject: true,
    problem: text,
  },
  {
    key: "context.embedding.api-key-env",
    default: undefined,
    description: "The name of the environment variable that holds the endpoint's key",
    perProject: true,
    problem: (value) =>
      VARIABLE.test(value) ? undefined : "must be the name of an environment variable, never the key itself",
  },
  {
    key: "context.embedding.price",
    default: undefined,
    description: "Dollars per million tokens that are embedded; 0 for none, which is the default on this machine",
    perProject: true,
    problem: (value) =>
      /^\d{1,6}(?:\.\d{1,6})?$/.test(value) ? undefined : "must be a number of dollars, such as 0.02",
  },
];

export const CONTEXT_SETTINGS: readonly Setting[] = DESCRIBED.map((described) => ({
  ...described,
  env: `CLEVERAGENTS_${described.key.toUpperCase().replaceAll(/[.-]/g, "_")}`,
}));
