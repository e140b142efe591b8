/** The roles of actors in a plan. */
export const ACTOR_ROLES = ["strategy", "execution"] as const;
/** A part that an actor plays in a plan. */
export type ActorRole = (typeof ACTOR_ROLES)[number];
