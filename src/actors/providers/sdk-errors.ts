import { isNoConnection } from "../../domain/network/no-connection.ts";
import { maskSecrets } from "../../domain/secrets/redaction.ts";
import { printable } from "../../domain/text/text.ts";
import { ModelError, type ModelErrorKind } from "../models/model-error.ts";
import type { ModelRef } from "../models/model.ts";

/**
 * Translates an error of the library into our own type. Its errors hold the whole request, so only a few fields are
 * read, and the provider's own sentence is masked and cut before it is shown: some providers repeat a part of the key
 * they refuse.
 */
export function asModelError(error: unknown, model: ModelRef, known: readonly string[]): ModelError {
  const own = findInChain(error, (one): one is ModelError => one instanceof ModelError);
  if (own !== undefined) return own;
  const api = findInChain(error, isApiError);
  if (api === undefined) return otherError(error, model, known);
  const kind = kindOf(api);
  return new ModelError(
    kind,
    sentence(kind, model, shortened(api.message, known)),
    { model, retryAfterMs: retryAfter(api.responseHeaders), unsent: isUnsent(error) },
    { detail: api.statusCode === undefined ? {} : { status: api.statusCode } },
  );
}

function sentence(kind: ModelErrorKind, { provider, model }: ModelRef, why: string): string {
  const what = WHAT[kind].replace("{}", `${provider}/${model}`);
  return why === "" ? `${what}.` : `${what}: ${why.replace(/[.\s]+$/, "")}.`;
}

const WHAT: Readonly<Record<ModelErrorKind, string>> = {
  rate_limit: "{} is rate-limiting us",
  network: "{} could not be reached",
  overloaded: "{} is overloaded",
  server: "{} failed on its own side",
  authentication: "{} does not accept the key",
  unavailable: "{} is not there, or not for this key",
  context_too_long: "The call is too long for {}",
  refused: "{} refused to answer",
  rejected: "{} rejected the call",
  malformed: "The answer of {} cannot be read",
  timeout: "{} took too long",
  cancelled: "The call of {} was stopped",
};

interface ApiError {
  readonly statusCode: number | undefined;
  readonly message: string;
  readonly responseBody: string | undefined;
  readonly responseHeaders: Readonly<Record<string, string>> | undefined;
}

/** By name, not by class, which would load the library for every error. */
function isApiError(error: unknown): error is ApiError & Error {
  return error instanceof Error && error.name === "AI_APICallError";
}

function kindOf({ statusCode, message, responseBody }: ApiError): ModelErrorKind {
  const text = `${message} ${responseBody ?? ""}`.toLowerCase();
  if (statusCode === undefined) return "network";
  if (statusCode === 429) return /insufficient_quota|billing/.test(text) ? "authentication" : "rate_limit";
  if (statusCode === 401 || statusCode === 403) return "authentication";
  if (/api key not valid|api_key_invalid|invalid api key/.test(text)) return "authentication";
  if (statusCode === 402) return "authentication";
  if (statusCode === 413 || TOO_LONG.test(text)) return "context_too_long";
  if (statusCode === 404 || /model_not_found|model .{1,200} (?:not found|does not exist)/.test(text))
    return "unavailable";
  if (statusCode === 503 || statusCode === 529 || OVERLOADED.test(text)) return "overloaded";
  if (statusCode === 408 || statusCode === 504 || statusCode >= 500) return "server";
  if (/content_policy|content_filter|safety/.test(text)) return "refused";
  return statusCode < 400 ? "malformed" : "rejected";
}

const TOO_LONG =
  /context_length_exceeded|context length|context window|too many (?:input )?tokens|prompt is too long|maximum context|input is too long|exceeds the maximum number of tokens/;

/** Anthropic's word for 529, which may also come in the middle of a stream. */
const OVERLOADED = /overloaded_error|"unavailable"/;

/** Not an answer of the endpoint at all: the connection, our own request, or something that could not be read. */
function otherError(error: unknown, model: ModelRef, known: readonly string[]): ModelError {
  const text = error instanceof Error ? error.message : String(error);
  const kind = otherKind(error);
  // The library puts the whole answer into its sentence about an answer it cannot read.
  const quotes = kind === "malformed" && error instanceof Error && error.name.startsWith("AI_");
  return new ModelError(kind, sentence(kind, model, quotes ? "" : shortened(text, known)), {
    model,
    unsent: isUnsent(error),
  });
}

/** There never was a connection, so nothing is billed. */
function isUnsent(error: unknown): boolean {
  return findInChain(error, isNoConnection) !== undefined;
}

function otherKind(error: unknown): ModelErrorKind {
  const name = error instanceof Error ? error.name : "";
  if (findInChain(error, isConnectionError) !== undefined) return "network";
  const unreadable = /^AI_(?:JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoOutput|NoContent)/.test(
    name,
  );
  return name.startsWith("AI_") && !unreadable ? "rejected" : "malformed";
}

/** Node's fetch says little itself; its cause has the code of the operating system or of the connection. */
function isConnectionError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return (
    /^(?:fetch failed|terminated)$/.test(error.message) ||
    ("code" in error && /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(String(error.code)))
  );
}

const SENTENCE_LIMIT = 300;

/** Masked before it is cut: half a key would not be known as one. */
function shortened(text: string, known: readonly string[]): string {
  const line = printable(maskSecrets(text.slice(0, 16_384), known).text)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > SENTENCE_LIMIT ? `${line.slice(0, SENTENCE_LIMIT).toWellFormed()}…` : line;
}

/** Seconds, milliseconds or a date, whichever the provider sends. */
export function retryAfter(
  headers: Readonly<Record<string, string>> | undefined,
  now = Date.now(),
): number | undefined {
  const milliseconds = Number(headers?.["retry-after-ms"]);
  if (headers?.["retry-after-ms"] !== undefined && milliseconds >= 0) return milliseconds;
  const value = headers?.["retry-after"]?.trim();
  if (value === undefined || value === "") return undefined;
  const seconds = Number(value);
  if (seconds >= 0) return Math.ceil(seconds * 1000);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function findInChain<T>(error: unknown, is: (one: unknown) => one is T): T | undefined {
  let current = error;
  for (let depth = 0; depth < 8 && current !== undefined && current !== null; depth += 1) {
    if (is(current)) return current;
    current = current instanceof Error ? current.cause : undefined;
  }
  return undefined;
}
