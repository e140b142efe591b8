import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import type { JsonValue } from "../domain/values/json.ts";
import { maskJson, maskSecrets, secretValues } from "../domain/secrets/redaction.ts";
import type { Environment } from "../domain/values/environment.ts";

/**
 * Secrets are masked where something is written down: in events, the audit log, decisions, tool calls, failures and
 * results of validations. Files are not: their contents are kept apart, exactly as they are. Besides what has the form
 * of a secret, the values of variables that are named like one are known here.
 */
let ofProcess: readonly string[] | undefined;
const ofCall = new AsyncLocalStorage<readonly string[]>();

function secretsOfProcess(): readonly string[] {
  ofProcess ??= secretValues(process.env);
  return ofProcess;
}

function knownSecrets(): readonly string[] {
  return ofCall.getStore() ?? secretsOfProcess();
}

/** In `work`, and there alone, the secrets of this environment are masked too. */
export function maskingSecretsOf<T>(environment: Environment, work: () => T): T {
  return environment === process.env ? work() : alsoMasking(secretValues(environment), work);
}

/**
 * The same with values that are known already: a thread has other variables than the call that started its work. Those
 * that were masked before stay so.
 */
export function alsoMasking<T>(secrets: readonly string[], work: () => T): T {
  const known = new Set([...secretsOfProcess(), ...knownSecrets(), ...secrets]);
  // The longest first, so that no secret is cut by a shorter one that is part of it.
  const longestFirst = [...known].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  return ofCall.run(longestFirst, work);
}

/** Differs where other values of the environment are masked; says nothing about them. */
export function secretsDigest(): string {
  return hash("sha256", JSON.stringify(knownSecrets()), "base64");
}

export function maskedText(text: string): string {
  return maskSecrets(text, knownSecrets()).text;
}

/** A value from outside: text under a key like `password` is masked because of its key too. */
export function maskedJson(value: JsonValue): { readonly value: JsonValue; readonly masked: number } {
  return maskJson(value, knownSecrets());
}

/**
 * Facts of ours, whose keys say nothing about secrets: what stands under "key" in the event of a changed setting is its
 * name. Only the texts are looked at, each by itself.
 */
export function maskedFacts<T>(value: T): T {
  return walk(value) as T;
}

function walk(value: unknown): unknown {
  if (typeof value === "string") return maskedText(value);
  if (Array.isArray(value)) return value.map(walk);
  if (typeof value !== "object" || value === null || "toJSON" in value) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item)]));
}
