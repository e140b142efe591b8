/** The roles of actors in a plan. */
export const ACTOR_ROLES = ["strategy", "execution"] as const;
export type ActorRole = (typeof ACTOR_ROLES)[number];
