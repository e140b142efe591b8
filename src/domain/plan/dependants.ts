import type { DecisionId } from "../names/ids.ts";

/** As much of a decision as tells what it builds on. */
export interface Related {
  readonly id: DecisionId;
  readonly parent: DecisionId | undefined;
  readonly needs: readonly DecisionId[];
}

/** A change that counts: whose it is and which paths it touched. */
export interface Touch {
  readonly decision: DecisionId;
  readonly resource: string;
  readonly paths: readonly string[];
}

/**
 * The decision and everything that cannot stand without it: what was decided below it, what needs it, and what later
 * changed a path that one of these had changed, or one above or below it, until nothing more is found. `touches` are in
 * the order in which they were made.
 */
export function dependantsOf(
  id: DecisionId,
  decisions: readonly Related[],
  touches: readonly Touch[],
): ReadonlySet<DecisionId> {
  const followers = new Map<DecisionId, Set<DecisionId>>();
  const follows = (later: DecisionId, earlier: DecisionId): void => {
    const known = followers.get(earlier);
    if (known === undefined) followers.set(earlier, new Set([later]));
    else known.add(later);
  };
  for (const { id: later, parent, needs } of decisions) {
    for (const earlier of parent === undefined ? needs : [parent, ...needs]) follows(later, earlier);
  }
  // A step that touches a path depends on the step that touched it last; earlier ones are reached through that one.
  const last = new Map<string, DecisionId>();
  const below = new Map<string, Set<DecisionId>>();
  for (const { decision, resource, paths } of touches) {
    for (const path of paths) {
      const place = `${resource}\n${path}`;
      const before = last.get(place);
      if (before !== undefined) follows(decision, before);
      last.set(place, decision);
      // A file where a directory was, and the other way round: one makes room for the other.
      for (const one of below.get(place) ?? []) follows(decision, one);
      for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
        const above = `${resource}\n${path.slice(0, end)}`;
        const there = last.get(above);
        if (there !== undefined) follows(decision, there);
        below.set(above, (below.get(above) ?? new Set()).add(decision));
      }
    }
  }
  const found = new Set([id]);
  // A set that grows while it is walked is walked to its end.
  for (const one of found) for (const follower of followers.get(one) ?? []) found.add(follower);
  return found;
}
