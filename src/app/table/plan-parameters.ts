/** The parameters that many operations of plans have. */

export const PLAN = {
  name: "plan",
  about: "its number, id, words of its request, or last; otherwise the newest here that fits",
  positional: true,
} as const;

export const SEEN = {
  name: "expectedVersion",
  about: "only if the plan still has this version, as plan status and plan diff show it",
  value: "version",
  kind: "integer",
} as const;

export const HERE = { name: "directory", about: "where the newest plan is looked for", kind: "here" } as const;
