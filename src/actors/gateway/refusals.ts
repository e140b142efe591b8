/**
 * Errors in the form of each dialect. Agents were tried with a budget that is used up: all of them stop at HTTP 402,
 * except Codex, which tries five more times and stops at once at `429 insufficient_quota`.
 */
import type { Dialect } from "./dialects.ts";

/** A request that does not go out, by the HTTP status that says why. */
export type RefusalStatus = 400 | 401 | 402 | 403 | 404 | 413 | 415 | 429 | 500 | 502 | 504;

export class RefusedRequestError extends Error {
  readonly status: RefusalStatus;

  constructor(status: RefusalStatus, message: string) {
    super(message);
    this.status = status;
  }
}

interface Words {
  readonly anthropic: string;
  readonly openai: readonly [type: string, code: string | null];
  readonly gemini: string;
}

const INVALID: Words = {
  anthropic: "invalid_request_error",
  openai: ["invalid_request_error", null],
  gemini: "INVALID_ARGUMENT",
};
const WORDS: Readonly<Record<RefusalStatus, Words>> = {
  400: INVALID,
  401: {
    anthropic: "authentication_error",
    openai: ["invalid_request_error", "invalid_api_key"],
    gemini: "UNAUTHENTICATED",
  },
  402: {
    anthropic: "billing_error",
    openai: ["insufficient_quota", "insufficient_quota"],
    gemini: "FAILED_PRECONDITION",
  },
  403: { anthropic: "permission_error", openai: ["invalid_request_error", null], gemini: "PERMISSION_DENIED" },
  404: { anthropic: "not_found_error", openai: ["invalid_request_error", "not_found"], gemini: "NOT_FOUND" },
  413: { ...INVALID, anthropic: "request_too_large" },
  415: INVALID,
  429: {
    anthropic: "rate_limit_error",
    openai: ["requests", "rate_limit_exceeded"],
    gemini: "RESOURCE_EXHAUSTED",
  },
  500: { anthropic: "api_error", openai: ["server_error", null], gemini: "INTERNAL" },
  502: { anthropic: "api_error", openai: ["server_error", null], gemini: "UNAVAILABLE" },
  504: { anthropic: "api_error", openai: ["server_error", null], gemini: "DEADLINE_EXCEEDED" },
};

export function refusal(
  dialect: Dialect,
  { status, message }: Pick<RefusedRequestError, "status" | "message">,
): { readonly status: number; readonly body: object } {
  const words = WORDS[status];
  const sent = dialect === "responses" && status === 402 ? 429 : status;
  switch (dialect) {
    case "anthropic":
      return { status: sent, body: { type: "error", error: { type: words.anthropic, message } } };
    case "chat":
    case "responses": {
      const [type, code] = words.openai;
      return { status: sent, body: { error: { message, type, param: null, code } } };
    }
    case "gemini":
      return { status: sent, body: { error: { code: sent, message, status: words.gemini } } };
  }
}
