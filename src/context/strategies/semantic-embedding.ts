/**
 * Finds text of similar meaning: files in pieces of some dozen lines, a vector for each piece, and the pieces nearest
 * to the query's vector. All vectors are compared one by one; that is exact, and quick enough for some 200,000 of them.
 *
 * Pieces without a vector are embedded first. If that takes longer than a strategy may, the finished vectors are kept
 * and the next attempt continues from there; an answer is given only when no vector is missing, so that it does not
 * depend on how far an earlier attempt came.
 */
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import type { IndexedFile, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { openScopedIndex } from "../../code-index/search/open-scoped-index.ts";
import { alsoMasking, maskedText } from "../../platform/masking.ts";
import type { EmbeddingEndpoint } from "../model/context-model.ts";
import { embed, tokensAtMost } from "./embedding-endpoint.ts";
import { fill, linesCandidate, type Candidate } from "./fit-fragments.ts";
import type { ContextStrategyFunction } from "./strategy-run.ts";
import { queryKey, type StoredVector, VectorStore } from "./vector-store.ts";

const LINES_PER_PIECE = 40;
const LONGEST_PIECE = 6_000;
const LONGEST_QUERY = 8_000;
const PIECES_PER_CALL = 64;
const MOST_FOUND = 200;
/** Below this two texts have nothing to do with each other. */
const LEAST_SIMILARITY = 0.1;

export const semanticEmbedding: ContextStrategyFunction = (input, allowance) =>
  alsoMasking(input.embedding?.secrets ?? [], () => search(input, allowance));

const search: ContextStrategyFunction = async (input, { tokens, signal }) => {
  const { request, scope, embedding } = input;
  const [tree] = scope.trees;
  if (tokens <= 0 || tree === undefined || request.query.trim() === "") return [];
  if (embedding === undefined) throw new Error("no embedding endpoint is configured");
  using index = openScopedIndex(scope);
  using vectors = VectorStore.beside(tree.index, embedding);
  await embedMissing(index, vectors, embedding, signal);
  const query = await vectorOfQuery(askedOf(request.query), vectors, embedding, signal);
  return fill(nearest(index, vectors, query), { tokens, signal });
};

/**
 * Makes the vectors of all files of a scope that have none, ahead of a question: for many files that takes longer than
 * a strategy may. Exactly the files that the scope lets through are sent to the endpoint.
 *
 * @returns how many contents were embedded.
 */
export async function embedScope(options: {
  readonly scope: IndexScope;
  readonly embedding: EmbeddingEndpoint;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}): Promise<number> {
  const [tree] = options.scope.trees;
  if (tree === undefined) return 0;
  using index = openScopedIndex(options.scope);
  using vectors = VectorStore.beside(tree.index, options.embedding);
  return await embedMissing(index, vectors, options.embedding, options.signal, options.onProgress);
}

/** The most tokens that are sent for a query to a scope; 0 when everything was embedded before. */
export function mostTokens(scope: IndexScope, embedding: EmbeddingEndpoint, query: string): number {
  const [tree] = scope.trees;
  if (tree === undefined) return 0;
  using index = openScopedIndex(scope);
  using vectors = VectorStore.beside(tree.index, embedding);
  const asked = askedOf(query);
  const ofQuery = asked.trim() === "" || vectors.has(queryKey(asked)) ? 0 : tokensAtMost([asked]);
  const ofFile = (file: IndexedFile): number => tokensAtMost(piecesOf(index.text(file)).map(({ text }) => text));
  return missingIn(index, vectors).reduce((sum, file) => sum + ofFile(file), ofQuery);
}

function askedOf(query: string): string {
  return maskedText(query).slice(0, LONGEST_QUERY);
}

function missingIn(index: ScopedIndex, vectors: VectorStore): readonly IndexedFile[] {
  const byContent = new Map(index.files().map((file) => [file.hash, file]));
  return Array.from(byContent.values()).filter(({ size, hash }) => size > 0 && !vectors.has(hash));
}

async function embedMissing(
  index: ScopedIndex,
  vectors: VectorStore,
  endpoint: EmbeddingEndpoint,
  signal: AbortSignal,
  onProgress?: (done: number, total: number) => void,
): Promise<number> {
  const missing = missingIn(index, vectors);
  let batch: { readonly content: string; readonly pieces: readonly TextPiece[] }[] = [];
  const flush = async (): Promise<void> => {
    const texts = batch.flatMap(({ pieces }) => pieces.map(({ text }) => text));
    if (texts.length === 0) return;
    const charge = (tokens: number): void => vectors.charge(endpoint.bill, tokens);
    const embedded = (await embed(endpoint, texts, signal, charge)).values();
    const made = batch.map(({ content, pieces }): [string, readonly StoredVector[]] => [
      content,
      pieces.map(({ startLine, endLine }) => {
        return { startLine, endLine, vector: embedded.next().value ?? new Float32Array() };
      }),
    ]);
    vectors.put(new Map(made));
    batch = [];
  };
  for (const [done, file] of missing.entries()) {
    signal.throwIfAborted();
    batch.push({ content: file.hash, pieces: piecesOf(index.text(file)) });
    if (batch.reduce((sum, { pieces }) => sum + pieces.length, 0) >= PIECES_PER_CALL) {
      await flush();
      onProgress?.(done + 1, missing.length);
    }
  }
  await flush();
  return missing.length;
}

interface TextPiece {
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
}

function piecesOf(text: string): readonly TextPiece[] {
  // They leave the machine: without secrets, and lines keep their numbers.
  const lines = maskedText(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  const pieces: TextPiece[] = [];
  for (let start = 0; start < lines.length; start += LINES_PER_PIECE) {
    const piece = lines
      .slice(start, start + LINES_PER_PIECE)
      .join("\n")
      .slice(0, LONGEST_PIECE);
    if (piece.trim() === "") continue;
    pieces.push({ startLine: start + 1, endLine: Math.min(lines.length, start + LINES_PER_PIECE), text: piece });
  }
  return pieces;
}

async function vectorOfQuery(
  query: string,
  vectors: VectorStore,
  endpoint: EmbeddingEndpoint,
  signal: AbortSignal,
): Promise<Float32Array> {
  const key = queryKey(query);
  const [stored] = vectors.get(key);
  if (stored !== undefined) return stored.vector;
  const charge = (tokens: number): void => vectors.charge(endpoint.bill, tokens);
  const [vector = new Float32Array()] = await embed(endpoint, [query], signal, charge);
  vectors.put(new Map([[key, [{ startLine: 0, endLine: 0, vector }]]]));
  return vector;
}

function* nearest(index: ScopedIndex, vectors: VectorStore, query: Float32Array): Generator<Candidate> {
  const near: { file: IndexedFile; startLine: number; endLine: number; similarity: number }[] = [];
  for (const file of index.files()) {
    for (const { startLine, endLine, vector } of vectors.get(file.hash)) {
      const similarity = dot(query, vector);
      if (similarity >= LEAST_SIMILARITY) near.push({ file, startLine, endLine, similarity });
    }
  }
  // Sorting keeps the order of files for pieces that are equally near.
  for (const found of near.toSorted((a, b) => b.similarity - a.similarity).slice(0, MOST_FOUND)) {
    yield linesCandidate(index, found.file, found.startLine, found.endLine, {
      relevance: found.similarity,
      reason: `similar in meaning to the query (${found.similarity.toFixed(2)})`,
    });
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length)
    throw new Error("the embedding model now gives vectors of another size; delete vectors.db beside the index");
  let sum = 0;
  for (let position = 0; position < a.length; position += 1) sum += (a[position] ?? 0) * (b[position] ?? 0);
  return sum;
}
