import { describe, expect, test } from "vitest";
import { asModelError, retryAfter } from "./sdk-errors.ts";

const MODEL = { provider: "openai", model: "gpt-4o" };

function apiError(statusCode: number | undefined, message: string, responseBody = ""): Error {
  return Object.assign(new Error(message), {
    name: "AI_APICallError",
    statusCode,
    responseBody,
    requestBodyValues: "the prompt",
    url: "https://u",
  });
}

describe("what the library throws", () => {
  test.each([
    [apiError(429, "slow down"), "rate_limit"],
    [apiError(429, "You exceeded your current quota", '{"code":"insufficient_quota"}'), "authentication"],
    [apiError(402, "pay first"), "authentication"],
    [apiError(400, "API key not valid. Please pass a valid API key."), "authentication"],
    [apiError(400, "prompt is too long: 210000 tokens > 200000 maximum"), "context_too_long"],
    [apiError(400, "x", '{"error":{"code":"context_length_exceeded"}}'), "context_too_long"],
    [apiError(413, "too large"), "context_too_long"],
    [apiError(400, "x", '{"error":{"code":"content_policy_violation"}}'), "refused"],
    [apiError(400, 'model "qwen9" not found, try pulling it first'), "unavailable"],
    [apiError(529, "Overloaded"), "overloaded"],
    [apiError(undefined, "Cannot connect to API: connect ECONNREFUSED"), "network"],
    [Object.assign(new Error("no"), { name: "AI_JSONParseError" }), "malformed"],
    [Object.assign(new Error("no"), { name: "AI_MissingToolResultsError" }), "rejected"],
    [new TypeError("terminated"), "network"],
    [new Error("outer", { cause: apiError(503, "busy") }), "overloaded"],
    [new Error("x", { cause: Object.assign(new Error("y"), { code: "ECONNRESET" }) }), "network"],
    [new TypeError("Cannot read properties of undefined"), "malformed"],
    ["a string", "malformed"],
  ])("%s is %s", (error, kind) => {
    const failure = asModelError(error, MODEL, []);
    expect(failure.kind).toBe(kind);
    expect(failure.message).toMatch(/\.$/);
    expect(failure.cause).toBeUndefined();
    expect(JSON.stringify(failure)).not.toContain("the prompt");
  });

  test("is masked, cut to a line, and cleaned", () => {
    const failure = asModelError(apiError(401, `Incorrect key plain-secret-key\u001b[2J\n${"x".repeat(900)}`), MODEL, [
      "plain-secret-key",
    ]);
    expect(failure.message).toContain("Incorrect key [masked: configured key]");
    expect(failure.message.length).toBeLessThan(400);
    for (const character of ["\n", "\u001b"]) expect(failure.message).not.toContain(character);
  });
});

describe("how long to wait", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  test.each([
    ["7", 7_000],
    ["0.5", 500],
    ["0", 0],
    ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["soon", undefined],
    ["", undefined],
  ])('"%s" is %s ms', (header, expected) => {
    expect(retryAfter({ "retry-after": header }, now)).toBe(expected);
  });

  test("milliseconds go before seconds, and nothing is nothing", () => {
    expect(retryAfter({ "retry-after-ms": "250", "retry-after": "7" }, now)).toBe(250);
    expect(retryAfter({}, now)).toBeUndefined();
    expect(retryAfter(undefined, now)).toBeUndefined();
  });
});
