import { parseActorName } from "../names/actor-name.ts";
import { ACTOR_ROLES, type ActorRole } from "../names/actor-roles.ts";
import type { Setting } from "./settings.ts";

/** The actors that plans have whose action names none: `actor.default.<role>`. */
export const ACTOR_SETTINGS: readonly Setting[] = ACTOR_ROLES.map((role) => ({
  key: defaultActorKey(role),
  env: `CLEVERAGENTS_ACTOR_DEFAULT_${role.toUpperCase()}`,
  default: undefined,
  description: `The ${role} actor of plans whose action names none`,
  perProject: false,
  problem: (value) => {
    try {
      parseActorName(value);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  },
}));

export function defaultActorKey(role: ActorRole): string {
  return `actor.default.${role}`;
}
