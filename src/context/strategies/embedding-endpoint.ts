/**
 * Asks an OpenAI-compatible service for vectors. The texts are the user's code, so they go to the configured address
 * and nowhere else: a redirect is an error. The key is in no message.
 */
import { isNoConnection } from "../../domain/network/no-connection.ts";
import { isTokenCount, isTooFew } from "../../domain/money/token-claim.ts";
import type { EmbeddingEndpoint } from "../model/context-model.ts";
import { tokenizerNamed, tokenizerOf } from "../tokens/tokenizer.ts";

const TEXTS_PER_CALL = 64;
const LONGEST_COMPLAINT = 200;

/** A call that certainly was not billed: the service did not accept it. */
class UnbilledCallError extends Error {}

/** Records how many tokens are sent, before they are, and how many fewer they were, after. */
export type Charge = (tokens: number) => void;

/** One vector for each text, each of length 1, all with the same number of dimensions. */
export async function embed(
  endpoint: EmbeddingEndpoint,
  texts: readonly string[],
  signal: AbortSignal,
  charge: Charge = () => undefined,
): Promise<readonly Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let start = 0; start < texts.length; start += TEXTS_PER_CALL) {
    const input = texts.slice(start, start + TEXTS_PER_CALL);
    const most = tokensAtMost(input);
    charge(most);
    try {
      const { embedded, tokens } = await embedOnce(endpoint, input, signal);
      if (tokens !== undefined) charge(believedTokens(tokens, input, endpoint.model, most) - most);
      vectors.push(...embedded);
    } catch (error) {
      if (error instanceof UnbilledCallError) charge(-most);
      throw error;
    }
  }
  return vectors;
}

/** As much as the smallest models read of a text; they leave out the rest, and do not bill it. */
const ALWAYS_READ = 256;

/** If the claim is too low to be true, our own count. */
function believedTokens(said: number, input: readonly string[], model: string, most: number): number {
  const counts = input.map(tokenizerNamed(tokenizerOf(model)));
  const read = counts.reduce((sum, tokens) => sum + Math.min(tokens, ALWAYS_READ), 0);
  const counted = counts.reduce((sum, tokens) => sum + tokens, 0);
  return Math.min(most, isTooFew(said, read) ? counted : said);
}

/** A token is at least a byte. */
export function tokensAtMost(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

async function embedOnce(
  { url, model, key }: EmbeddingEndpoint,
  input: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly embedded: readonly Float32Array[]; readonly tokens: number | undefined }> {
  if (key !== undefined && (key.value === undefined || key.value === "")) {
    throw new UnbilledCallError(
      `the environment variable ${key.variable}, which should hold the key of ${url}, is not set`,
    );
  }
  const response = await fetch(`${url.replace(/\/+$/, "")}/embeddings`, {
    method: "POST",
    redirect: "manual",
    headers: {
      "content-type": "application/json",
      ...(key === undefined ? {} : { authorization: `Bearer ${key.value}` }),
    },
    body: JSON.stringify({ model, input, encoding_format: "float" }),
    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    const message = `${url} cannot be reached: ${causeOf(error)}`;
    // A connection that broke had existed: the bytes sent over it may be billed.
    const unsent = error instanceof Error && isNoConnection(error.cause);
    throw unsent ? new UnbilledCallError(message, { cause: error }) : new Error(message, { cause: error });
  });
  const text = await textOf(response, url);
  if (!response.ok)
    throw new UnbilledCallError(`${url} answered ${response.status}: ${text.slice(0, LONGEST_COMPLAINT)}`);
  const body = bodyOf(text);
  return { embedded: vectorsIn(body, input.length, url), tokens: tokensIn(body) };
}

/** 64 vectors of 4,096 numbers are 6 MB. */
const LONGEST_ANSWER = 64 * 1024 * 1024;

/**
 * The whole answer, unless it is longer than an answer can be: then the connection is closed instead of waiting for its
 * end.
 */
async function textOf(response: Response, url: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > LONGEST_ANSWER) throw new Error(`${url} answered with more bytes than embeddings can have`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** The number of tokens the service claims; undefined when it claims none, or a number that no call can have. */
function tokensIn({ usage }: EmbeddingBody): number | undefined {
  if (typeof usage !== "object" || usage === null || !("total_tokens" in usage)) return undefined;
  return isTokenCount(usage.total_tokens) ? usage.total_tokens : undefined;
}

function vectorsIn(body: EmbeddingBody, count: number, url: string): readonly Float32Array[] {
  const items = itemsIn(body);
  if (items === undefined || items.length !== count) throw new Error(`${url} did not answer with ${count} embeddings`);
  const vectors = Array.from<Float32Array | undefined>({ length: count });
  for (const [position, item] of items.entries()) {
    const at = typeof item.index === "number" ? item.index : position;
    if (at >= 0 && at < count) vectors[at] = unitVector(item.embedding);
  }
  const complete = vectors.filter((vector) => vector !== undefined);
  if (complete.length !== count || complete.some(({ length }) => length !== complete[0]?.length)) {
    throw new Error(`${url} answered with invalid embeddings`);
  }
  return complete;
}

function itemsIn({
  data,
}: EmbeddingBody): readonly { readonly index?: unknown; readonly embedding?: unknown }[] | undefined {
  if (!Array.isArray(data)) return undefined;
  const items: readonly unknown[] = data;
  return items.filter((item) => typeof item === "object" && item !== null);
}

interface EmbeddingBody {
  readonly data?: unknown;
  readonly usage?: unknown;
}

/** Empty for text that is not a JSON object. */
function bodyOf(text: string): EmbeddingBody {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? body : {};
  } catch {
    return {};
  }
}

/** Undefined for a value that has no direction. */
function unitVector(value: unknown): Float32Array | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const numbers: readonly unknown[] = value;
  let squares = 0;
  for (const number of numbers) {
    if (typeof number !== "number" || !Number.isFinite(number)) return undefined;
    squares += number * number;
  }
  if (squares === 0) return undefined;
  const length = Math.sqrt(squares);
  return Float32Array.from(numbers, (number) => Number(number) / length);
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
