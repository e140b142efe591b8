/**
 * The strategies that come with the product, as the registry knows them. Their code is in another module
 * (worker-entry.ts) that only the worker threads load, so that listing them costs nothing.
 */
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { ContextStrategy } from "../model/stage-interfaces.ts";
import { termsOf } from "./query.ts";

/** In a bundle the entry is a file next to the bundle. */
const MODULE = new URL(
  import.meta.url.endsWith(".ts") ? "./worker-entry.ts" : "./context-strategies.cjs",
  import.meta.url,
).href;

export const BUILT_IN_STRATEGIES: readonly ContextStrategy[] = [
  {
    name: "symbol-rank",
    description: "ranks files by their uses of each other's definitions, starting from the names in the request",
    quality: 0.9,
    needs: ["graph", "text"],
    module: MODULE,
    exportName: "symbolRank",
    repeatable: true,
    confidence: (request) => (pointsSomewhere(request) ? 0.9 : hasWords(request) ? 0.6 : 0.4),
  },
  {
    name: "breadth-depth-navigator",
    description: "walks from the focus to the definitions it uses, its users and its imports",
    quality: 0.85,
    needs: ["graph", "text"],
    module: MODULE,
    exportName: "breadthDepthNavigator",
    repeatable: true,
    confidence: (request) => (pointsSomewhere(request) ? 0.85 : hasWords(request) ? 0.5 : 0),
  },
  {
    name: "passage-search",
    description: "searches pieces of about forty lines for the words of the request, and shows the best in full",
    quality: 1,
    needs: ["text"],
    module: MODULE,
    exportName: "passageSearch",
    repeatable: true,
    confidence: (request) => (hasWords(request) ? 1 : 0),
  },
  {
    name: "plan-decision-context",
    description: "tells the plan's earlier decisions, and shows the files it changed",
    quality: 0.7,
    needs: ["decisions"],
    module: MODULE,
    exportName: "planDecisionContext",
    confidence: (_request, plan) =>
      plan === undefined || (plan.decisions.length === 0 && plan.changedPaths.length === 0) ? 0 : 0.7,
  },
  {
    name: "semantic-embedding",
    description: "finds text of similar meaning by the vectors of an embedding model",
    quality: 0.6,
    needs: ["vector"],
    module: MODULE,
    exportName: "semanticEmbedding",
    confidence: (request) => (hasWords(request) ? 0.6 : 0),
  },
  {
    name: "simple-keyword",
    description: "searches texts, names and paths for the words of the request",
    quality: 0.3,
    needs: ["text"],
    module: MODULE,
    exportName: "simpleKeyword",
    repeatable: true,
    confidence: (request) => (hasWords(request) ? 0.3 : 0),
  },
];

function pointsSomewhere(request: ContextQuestion): boolean {
  if (request.focus.length > 0) return true;
  const { identifiers, paths } = termsOf(request);
  return identifiers.length > 0 || paths.length > 0;
}

function hasWords(request: ContextQuestion): boolean {
  const { identifiers, paths, words } = termsOf(request);
  return identifiers.length + paths.length + words.length > 0;
}
