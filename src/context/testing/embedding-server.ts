/**
 * An OpenAI-compatible endpoint on loopback whose vectors are counts of words, so that texts with the same words are
 * near, and for which each word and each sign is a token.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { wordsOf } from "../../code-index/words/words.ts";

export interface EmbeddingServer extends AsyncDisposable {
  readonly url: string;
  /** The texts of each call so far. */
  readonly calls: readonly (readonly string[])[];
  /** The authorization of each call. */
  readonly authorizations: readonly (string | undefined)[];
  /** Answers the next calls in another way; undefined: correctly. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
}

const DIMENSIONS = 64;

export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const calls: string[][] = [];
  const authorizations: (string | undefined)[] = [];
  let answer: EmbeddingServer["answer"];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { input }: { input: string[] } = JSON.parse(await text(request));
    calls.push(input);
    // In another order than asked, as the protocol allows.
    const data = input.map((piece, index) => ({ index, embedding: vectorOf(piece) })).toReversed();
    const usage = { total_tokens: input.reduce((sum, piece) => sum + tokensOf(piece), 0) };
    response.setHeader("content-type", "application/json").end(JSON.stringify({ data, usage }));
  };
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    if (answer === undefined) void respond(request, response);
    else answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    calls,
    authorizations,
    get answer() {
      return answer;
    },
    set answer(own) {
      answer = own;
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export function tokensOf(piece: string): number {
  return piece.match(/\w+|[^\s\w]/g)?.length ?? 0;
}

function vectorOf(piece: string): readonly number[] {
  const vector = Array.from({ length: DIMENSIONS }, () => 0);
  vector[0] = 0.01;
  for (const word of wordsOf(piece)) {
    const place = Array.from(word).reduce((hash, letter) => (hash * 31 + (letter.codePointAt(0) ?? 0)) % DIMENSIONS, 7);
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
}
