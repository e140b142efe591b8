/**
 * A ranking like that of Aider's map, written from its description, over the graph of our own index: what peers would
 * show of the same code. Files are ranked by PageRank over "uses a name that one defines", weighted as described; each
 * file's rank is handed to the definitions it uses; the best definitions are listed with their signatures until the
 * budget is used up. Aider itself accepts up to 15 % more and estimates tokens; here the budget is kept, which is in
 * its favor only where an answer would have been refused.
 */
import type { ScopedIndex } from "../src/code-index/model/scoped-index.ts";
import type { Question } from "../src/context/testing/answer-sets.ts";

const ROUNDS = 30;
const DAMPING = 0.85;

/** The files of which it shows something. */
export function aiderLike(
  index: ScopedIndex,
  { query, focus }: Pick<Question, "query" | "focus">,
  tokens: number,
  count: (text: string) => number,
): ReadonlySet<string> {
  const { files, edges } = index.graph();
  const mentioned = new Set(query.match(/[A-Za-z_]\w+/g));
  const chat = new Set(focus);
  const share = 100 / Math.max(1, files.length);
  const start = files.map(({ path }) => {
    const parts = path.split("/").flatMap((part) => [part, part.replace(/\.\w+$/, "")]);
    return (chat.has(path) ? share : 0) + (parts.some((part) => mentioned.has(part)) ? share : 0);
  });
  const total = start.reduce((sum, value) => sum + value, 0);
  const home = start.map((value) => (total === 0 ? 1 / files.length : value / total));

  const weights = edges.map(({ from, name, count: uses, definers }) => {
    const isTelling = name.length >= 8 && /_|-|[a-z][A-Z]/.test(name);
    return (
      (mentioned.has(name) ? 10 : 1) *
      (isTelling ? 10 : 1) *
      (name.startsWith("_") ? 0.1 : 1) *
      (definers > 5 ? 0.1 : 1) *
      (chat.has(files[from]?.path ?? "") ? 50 : 1) *
      Math.sqrt(uses)
    );
  });
  const { rank, out } = pageRank(home, edges, weights);
  const tags = new Map<string, { file: number; name: string; rank: number }>();
  for (const [position, { from, to, name }] of edges.entries()) {
    const key = `${to} ${name}`;
    const tag = tags.get(key) ?? { file: to, name, rank: 0 };
    tag.rank += ((rank[from] ?? 0) * (weights[position] ?? 0)) / (out[from] ?? 1);
    tags.set(key, tag);
  }
  const shown = new Set<string>();
  let left = tokens;
  for (const { file, name } of Array.from(tags.values()).toSorted((a, b) => b.rank - a.rank)) {
    const definer = files[file];
    // Files in the chat are already there in full.
    if (definer === undefined || chat.has(definer.path)) continue;
    for (const definition of index.definitionsIn(definer).filter((candidate) => candidate.name === name)) {
      const signature = index.excerptOfDefinition(definition, "signatures").text;
      const cost = count(shown.has(definer.path) ? signature : `${definer.path}:\n${signature}`);
      if (cost > left) return shown;
      left -= cost;
      shown.add(definer.path);
    }
  }
  return shown;
}

type Edges = ReturnType<ScopedIndex["graph"]>["edges"];

/** The rank of each file, and the sum of the weights of what it uses. */
function pageRank(
  home: readonly number[],
  edges: Edges,
  weights: readonly number[],
): { readonly rank: Float64Array; readonly out: Float64Array } {
  const out = new Float64Array(home.length);
  for (const [position, { from }] of edges.entries()) out[from] = (out[from] ?? 0) + (weights[position] ?? 0);
  let rank = Float64Array.from(home);
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = new Float64Array(home.length);
    let stranded = 0;
    for (const [file, mass] of rank.entries()) if (out[file] === 0) stranded += mass;
    for (const [position, { from, to }] of edges.entries()) {
      next[to] = (next[to] ?? 0) + (DAMPING * (rank[from] ?? 0) * (weights[position] ?? 0)) / (out[from] ?? 1);
    }
    rank = next.map((value, file) => value + (home[file] ?? 0) * (1 - DAMPING + DAMPING * stranded));
  }
  return { rank, out };
}
