/** The actors of an action or a plan, one column for each role. */
import type { Actors } from "../../domain/action/action.ts";
import { ACTOR_ROLES, type ActorRole } from "../../domain/names/actor-roles.ts";
import type { QualifiedName } from "../../domain/names/qualified-name.ts";

/**
 * The actor columns that actions and plans share, in the order of ACTOR_ROLES. Both tables also have columns for four
 * roles of earlier versions (estimation, review, apply, invariant), which had no effect; no statement uses them.
 */
export type ActorColumns = { readonly [R in ActorRole as `${R}_actor`]: string | null };

export function actorColumns(actors: Actors): (string | null)[] {
  return ACTOR_ROLES.map((role) => actors[role] ?? null);
}

export function readActors(row: ActorColumns): Actors {
  const read = (value: string | null): QualifiedName | undefined => (value ?? undefined) as QualifiedName | undefined;
  return {
    strategy: read(row.strategy_actor),
    execution: read(row.execution_actor),
  };
}
