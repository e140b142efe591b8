/** The one step of a plan whose actor is its strategy: a graph, or an agent of another maker. */
export const FIXED_STEPS = { graph: "run-graph", acp: "run-agent" } as const;
