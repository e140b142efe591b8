/** What actors do in a plan. */
export const ACTOR_ROLES = ["strategy", "execution", "estimation", "review", "apply", "invariant"] as const;
/** A part that an actor plays in a plan. */
export type ActorRole = (typeof ACTOR_ROLES)[number];
