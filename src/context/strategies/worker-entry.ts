/** The module that worker threads load to run the built-in strategies. */
export { breadthDepthNavigator } from "./breadth-depth-navigator.ts";
export { passageSearch } from "./passage-search.ts";
export { planDecisionContext } from "./plan-decision-context.ts";
export { semanticEmbedding } from "./semantic-embedding.ts";
export { simpleKeyword } from "./simple-keyword.ts";
export { symbolRank } from "./symbol-rank-strategy.ts";
