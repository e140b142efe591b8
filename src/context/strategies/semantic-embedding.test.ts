import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EmbeddingEndpoint } from "../model/context-model.ts";
import { type EmbeddingServer, startEmbeddingServer } from "../testing/embedding-server.ts";
import { placesOf, StrategySetUp } from "../testing/strategy-set-up.ts";

const KEY = "CLEVERAGENTS_TEST_EMBEDDING_KEY";
const FILES = {
  "kitchen.md": "Bread is baked in the oven.\n",
  "garden.md": "Roses and tulips grow in the garden.\n",
  "copy.md": "Roses and tulips grow in the garden.\n",
  "long.md": `${"An empty page.\n".repeat(100)}Trains leave from the station at noon.\n`,
  "empty.md": "",
};

let server: EmbeddingServer;
let code: StrategySetUp;
beforeEach(async () => {
  server = await startEmbeddingServer();
  code = await StrategySetUp.of({ notes: FILES });
});
afterEach(async () => {
  code[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

const endpoint = (changes: Partial<EmbeddingEndpoint> = {}): EmbeddingEndpoint => {
  return { url: server.url, model: "words", ...changes };
};
const ask = (query: string, embedding: EmbeddingEndpoint | undefined = endpoint()) =>
  code.run("semanticEmbedding", { query }, { embedding });

test("shows the pieces nearest to the query, the nearest first", async () => {
  const found = await ask("tulips and roses in the garden");
  expect(placesOf(found).slice(0, 2)).toEqual(["notes:copy.md", "notes:garden.md"]);
  expect(found[0]?.reason).toContain("similar in meaning");
  const [train] = await ask("the station trains leave from");
  expect(train).toMatchObject({ entity: "notes:long.md:81-101", level: "full" });
});

test("asks for each content once, and for each query once", async () => {
  await ask("roses");
  const texts = server.calls.flat();
  expect(texts.filter((piece) => piece.startsWith("Roses"))).toHaveLength(1);
  expect(texts.filter((piece) => piece === "roses")).toHaveLength(1);
  const calls = server.calls.length;
  expect(await ask("roses")).toEqual(await ask("roses"));
  expect(server.calls).toHaveLength(calls);
  expect(existsSync(join(dirname((await code.scope()).trees[0]?.index ?? ""), "vectors.db"))).toBe(true);
});

test("asks again under another model, whose vectors mean something else", async () => {
  await ask("roses");
  const calls = server.calls.length;
  await ask("roses", endpoint({ model: "other" }));
  expect(server.calls.length).toBeGreaterThan(calls);
});

test("keeps its vectors when it is stopped, and continues from there", async () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${at}.md`, `Page number ${at}.\n`]));
  using book = await StrategySetUp.of({ notes: many });
  const stop = new AbortController();
  const watched = setInterval(() => {
    if (server.calls.length > 0) stop.abort(new Error("enough"));
  }, 1);
  const run = book.run("semanticEmbedding", { query: "page" }, { embedding: endpoint(), signal: stop.signal });
  await expect(run).rejects.toThrow("enough");
  clearInterval(watched);
  const before = server.calls.flat().length;
  await book.run("semanticEmbedding", { query: "page" }, { embedding: endpoint() });
  // Every page and the query, and at most one batch of 64 twice.
  expect(server.calls.flat().length).toBeLessThanOrEqual(201 + 64);
  expect(before).toBeLessThan(201);
});

describe("the key", () => {
  test("is sent with every call", async () => {
    await ask("roses", endpoint({ key: { variable: KEY, value: "s3cret" } }));
    expect(new Set(server.authorizations)).toEqual(new Set(["Bearer s3cret"]));
  });

  test("is not sent where none is configured", async () => {
    await ask("roses");
    expect(new Set(server.authorizations)).toEqual(new Set([undefined]));
  });

  test("that is not set is reported by the name of its variable", async () => {
    const unset = endpoint({ key: { variable: KEY, value: undefined } });
    await expect(ask("roses", unset)).rejects.toThrow(`environment variable ${KEY}`);
    expect(server.calls).toEqual([]);
  });

  test("is in no message", async () => {
    const wrong = endpoint({ key: { variable: KEY, value: "s3cret" } });
    server.answer = (_request, response) => void response.writeHead(401).end("no such key");
    await expect(ask("roses", wrong)).rejects.toThrow(/answered 401: no such key/);
    await expect(ask("roses", wrong)).rejects.not.toThrow(/s3cret/);
  });
});

describe("an endpoint that misbehaves fails the strategy, with its own words:", () => {
  test.each([
    ["answers with an error", 500, "overloaded", /answered 500: overloaded/],
    ["answers with something else", 200, "<html>", /did not answer with \d+ embeddings/],
    ["answers with too few", 200, '{"data":[]}', /did not answer with \d+ embeddings/],
    ["answers with no numbers", 200, undefined, /invalid embeddings/],
  ])("%s", async (_what, status, body, message) => {
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { input }: { input: string[] } = JSON.parse(await text(request));
      const none = JSON.stringify({ data: input.map((_, index) => ({ index, embedding: [0, null] })) });
      response.writeHead(status).end(body ?? none);
    };
    server.answer = (request, response) => void respond(request, response);
    await expect(ask("roses")).rejects.toThrow(message);
  });

  test("redirects elsewhere: nothing is sent there", async () => {
    await using other = await startEmbeddingServer();
    server.answer = (_request, response) => void response.writeHead(307, { location: `${other.url}/embeddings` }).end();
    await expect(ask("roses")).rejects.toThrow(/answered 307/);
    expect(other.authorizations).toEqual([]);
  });

  test("never stops: its connection is closed", async () => {
    let closed = false;
    server.answer = (_request, response) => {
      const piece = "0,".repeat(500_000);
      const send = (): void => {
        while (!closed && response.write(piece));
      };
      response.on("drain", send).on("close", () => (closed = true));
      send();
    };
    await expect(ask("roses")).rejects.toThrow(/more bytes than embeddings can have/);
    await expect.poll(() => closed).toBe(true);
  });

  test("is not there", async () => {
    await expect(ask("roses", endpoint({ url: "http://127.0.0.1:1/v1" }))).rejects.toThrow(
      /127.0.0.1:1.* cannot be reached/,
    );
  });

  test("is not configured", async () => {
    await expect(code.run("semanticEmbedding", { query: "roses" })).rejects.toThrow(
      "no embedding endpoint is configured",
    );
  });
});

test("nothing is asked for no tokens or no query", async () => {
  expect(await code.run("semanticEmbedding", { query: "roses" }, { embedding: endpoint(), tokens: 0 })).toEqual([]);
  expect(await ask("  ")).toEqual([]);
  expect(server.calls).toEqual([]);
});
