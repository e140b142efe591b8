/** Shows what ranks highest for the request (symbol-rank.ts): of each file the definitions that carry its rank. */
import type { ScopedIndex } from "../../code-index/scoped-index.ts";
import type { StrategyInput } from "../model.ts";
import { anchorsOf } from "./anchors.ts";
import { definitionFind, type Find } from "./finds.ts";
import { partsOf } from "./parts.ts";
import { termsOf } from "./query.ts";
import { finding } from "./strategy-run.ts";
import { rankSymbols } from "./symbol-rank.ts";

const TEXT_HITS = 20;
const MOST_FILES = 120;
const MOST_NAMES_PER_FILE = 4;
/** Files at this place in the order are worth half of the first. */
const HALF_WORTH = 10;

export const symbolRank = finding(function* (index: ScopedIndex, { request }: StrategyInput): Generator<Find> {
  const terms = termsOf(request);
  const graph = index.graph();
  const positions = new Map(graph.files.map(({ resource, path }, position) => [`${resource}:${path}`, position]));
  const seeds = new Map<number, number>();
  const seed = (file: { readonly resource: string; readonly path: string }, weight: number): void => {
    const position = positions.get(`${file.resource}:${file.path}`);
    if (position !== undefined) seeds.set(position, (seeds.get(position) ?? 0) + weight);
  };
  const names = new Set(terms.identifiers);
  const anchored = new Set<string>();
  for (const { file, definition, weight } of anchorsOf(index, request, terms)) {
    seed(file, weight);
    if (definition !== undefined && weight >= 0.5) names.add(definition.name);
    if (definition !== undefined) anchored.add(definition.name);
  }
  for (const [place, { file }] of index.searchText(terms.words, TEXT_HITS).entries()) seed(file, 0.3 / (1 + place / 4));

  const rank = rankSymbols(graph, { files: seeds, names });
  const rankedNames = Map.groupBy(rank.names, ({ file }) => file);
  const order = Array.from(rank.files.keys())
    .filter((file) => (rank.files[file] ?? 0) > 0)
    .toSorted((a, b) => (rank.files[b] ?? 0) - (rank.files[a] ?? 0) || a - b)
    .slice(0, MOST_FILES);
  const rest: Find[] = [];
  for (const [place, position] of order.entries()) {
    const file = graph.files[position];
    if (file === undefined) continue;
    const relevance = 1 / (1 + place / HALF_WORTH);
    const reason = `place ${place + 1} in the rank of files for this request`;
    const wanted = { names: new Set([...names, ...anchored]), words: terms.words, depth: request.depth };
    const [first, ...others] = partsOf(index, file, wanted, { relevance, reason });
    if (first !== undefined) yield first;
    const top = new Set(
      rankedNames
        .get(position)
        ?.slice(0, MOST_NAMES_PER_FILE)
        .map(({ name }) => name),
    );
    rest.push(
      ...others,
      ...index
        .definitionsIn(file)
        .filter(({ name }) => top.has(name))
        .map((definition) =>
          definitionFind(index, definition, "signatures_with_docs", {
            relevance: relevance * 0.6,
            reason: `others refer to ${definition.name}; ${reason}`,
          }),
        ),
    );
  }
  yield* rest;
});
