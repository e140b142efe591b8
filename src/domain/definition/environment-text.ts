import type { ValidationIssue } from "../errors/errors.ts";
import { suggested } from "./checked-schema.ts";
import type { Environment } from "../values/environment.ts";

/**
 * `${NAME}` and `${NAME:default}` in the texts of a definition. `$${NAME}` stands for the literal text `${NAME}`. A
 * text that is nothing but a variable becomes a typed value: `true`, `false` and numbers stop being text.
 */
const VARIABLE = /\$?\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\}/g;
const WHOLE = /^\$\{[A-Za-z_][A-Za-z0-9_]*(?::[^}]*)?\}$/;
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;
const DEPTH_LIMIT = 64;
const FILLED_LIMIT = 1024 * 1024;

/** The variables that a definition may take from the environment, and those it took. */
export interface VariableRules {
  /** The endpoints of the configured providers: the only thing that a variable in a `base_url` may stand for. */
  readonly endpoints: readonly string[];
  /** Names of the variables that were filled in from the environment, other than as an endpoint, are added. */
  readonly taken: Set<string>;
}

/** Keys of an endpoint, in the spelling of today and of older files. */
const ENDPOINT_KEY = /(?:^|\.)(?:base_url|openai_api_base)$/;

/**
 * A copy of the value with every variable filled in. One that is not set and has no default is a problem of its place.
 */
export function fillVariables(
  value: unknown,
  environment: Environment,
  issues: ValidationIssue[],
  rules: VariableRules = { endpoints: [], taken: new Set() },
): unknown {
  let room = FILLED_LIMIT;
  const text = (template: string, path: string): string =>
    template.replaceAll(VARIABLE, (whole, name: string, fallback: string | undefined, at: number) => {
      if (whole.startsWith("$$")) return whole.slice(1);
      const found = environment[name] ?? fallback;
      if (found === undefined) issues.push(unset(name, path, environment));
      if (environment[name] !== undefined) {
        if (!ENDPOINT_KEY.test(path)) rules.taken.add(name);
        else if (at > 0 || !isEndpoint(environment[name], rules.endpoints)) issues.push(noEndpoint(name, path));
      }
      room -= found?.length ?? 0;
      return room < 0 ? "" : (found ?? "");
    });
  const walk = (one: unknown, path: string, depth: number): unknown => {
    if (typeof one === "string") return WHOLE.test(one) ? native(text(one, path)) : text(one, path);
    // The reader of the definition refuses deeper nesting.
    if (typeof one !== "object" || one === null || depth > DEPTH_LIMIT) return one;
    const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
    if (Array.isArray(one)) return one.map((item: unknown, index) => walk(item, at(String(index)), depth + 1));
    if (Object.getPrototypeOf(one) !== Object.prototype) return one;
    return Object.fromEntries(Object.entries(one).map(([key, item]) => [key, walk(item, at(key), depth + 1)]));
  };
  const filled = walk(value, "", 1);
  if (room < 0) issues.push({ path: "", message: "is longer than 1 MiB once its variables are filled in" });
  return filled;
}

/** A whole endpoint of a configured provider, or its origin: nothing else can be smuggled into an address. */
function isEndpoint(value: string, endpoints: readonly string[]): boolean {
  const plain = value.replace(/\/+$/, "");
  return endpoints.some((one) => plain === one || (URL.canParse(one) && plain === new URL(one).origin));
}

function noEndpoint(name: string, path: string): ValidationIssue {
  const message = `takes \${${name}} along, and the value would go to the endpoint with each request; a variable may only stand at the beginning, for the endpoint of a configured provider: agents config set provider.<name>.base-url <url>`;
  return { path, message };
}

function native(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  return NUMBER.test(text) ? Number(text) : text;
}

function unset(name: string, path: string, environment: Environment): ValidationIssue {
  const message = `the environment variable ${name} is not set; write \${${name}:default} to do without, or $\${${name}} for the literal text`;
  return { path, message, ...suggested(name, Object.keys(environment)) };
}
