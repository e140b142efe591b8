import { ValidationError } from "../errors/errors.ts";
import { shown } from "../text/text.ts";

/**
 * The one form of every name: `[[server:]namespace/]name`. A `QualifiedName` always carries its namespace (`local` when
 * left out) and keeps the case it was written in; two names are the same when their keys are.
 */
export type QualifiedName = string & { readonly __brand: "QualifiedName" };

export interface NameParts {
  readonly server: string | undefined;
  readonly namespace: string;
  readonly name: string;
}

const PART = /^[A-Za-z][A-Za-z0-9_-]*$/;
export const NAME_PART_LIMIT = 100;
const RESERVED = new Set(["system", "internal", "admin", "root"]);
const PROVIDERS = new Set([
  "openai",
  "anthropic",
  "google",
  "gemini",
  "deepseek",
  "mistral",
  "perplexity",
  "qwen",
  "amazon",
]);

/** Parses a name that a user refers to (an action, a project, an actor). */
export function parseQualifiedName(text: string, field = "name"): QualifiedName {
  const { server, namespace, name } = split(text, field);
  return `${server === undefined ? "" : `${server}:`}${namespace}/${name}` as QualifiedName;
}

/** Parses the name of something a user registers: reserved and provider namespaces are not theirs to use. */
export function parseOwnName(text: string, field = "name"): QualifiedName {
  const parsed = parseQualifiedName(text, field);
  const namespace = nameParts(parsed).namespace.toLowerCase();
  if (RESERVED.has(namespace)) refuse(field, text, `the namespace "${namespace}" is reserved`);
  if (PROVIDERS.has(namespace)) refuse(field, text, `the namespace "${namespace}" belongs to a model provider`);
  return parsed;
}

export function nameParts(name: QualifiedName): NameParts {
  return split(name, "name");
}

/** The form that decides uniqueness: names are compared case-insensitively. */
export function nameKey(name: QualifiedName): string {
  return name.toLowerCase();
}

function split(text: string, field: string): NameParts {
  const colon = text.indexOf(":");
  const server = colon === -1 ? undefined : text.slice(0, colon);
  const rest = colon === -1 ? text : text.slice(colon + 1);
  const slash = rest.indexOf("/");
  if (server !== undefined && slash === -1) refuse(field, text, "a server needs a namespace: server:namespace/name");
  const namespace = slash === -1 ? "local" : rest.slice(0, slash);
  const name = slash === -1 ? rest : rest.slice(slash + 1);
  if (server !== undefined) checkPart(server, "server", field, text);
  checkPart(namespace, "namespace", field, text);
  checkPart(name, "name", field, text);
  return { server, namespace, name };
}

function checkPart(part: string, which: string, field: string, text: string): void {
  if (part === "") refuse(field, text, `its ${which} is empty`);
  if (part.length > NAME_PART_LIMIT) refuse(field, text, `its ${which} is longer than ${NAME_PART_LIMIT} characters`);
  if (!PART.test(part)) {
    refuse(field, text, `its ${which} ${shown(part)} must start with a letter, then letters, digits, "_" or "-"`);
  }
}

function refuse(field: string, text: string, why: string): never {
  const message = `${shown(text)} is not a usable name: ${why}.`;
  throw new ValidationError(message, [{ path: field, message }]);
}
