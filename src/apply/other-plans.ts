import type { PlanId } from "../domain/ids.ts";
import { netChanges, type NetChange } from "../execution/net-changes.ts";
import { standingChanges } from "../execution/standing-changes.ts";
import type { SandboxRecord } from "../execution/sandbox-record.ts";
import type { PlanChange } from "../execution/step-runner.ts";
import type { Landing } from "./landing.ts";

/**
 * Two plans may make the same change. The second one then lands nothing, and yet the change is as much its own as the first one's: it
 * stays until both are undone. So undo and redo lead from one world to another that differ in this plan alone, while every other plan is
 * in or out as it is now: what was there when this plan was applied, less what other plans took back since, plus this plan's changes or
 * not, plus what other plans brought since. A change that another plan made too is in both worlds, and does not move.
 */
export interface OtherPlan {
  readonly planId: PlanId;
  /** Its sandbox of the resource at hand. */
  readonly record: SandboxRecord;
  /** Its changes to that resource. */
  readonly entries: readonly PlanChange[];
  /** What its apply did there; undefined when everything was there already. */
  readonly applied: Landing | undefined;
  /** Its steps that were in when the plan at hand was applied, and those that are in now. */
  readonly inThen: ReadonlySet<string>;
  readonly inNow: ReadonlySet<string>;
}

/** A path that stays although the plan that changed it is undone, because of these plans. */
export interface HeldChange {
  readonly resource: string;
  readonly path: string;
  readonly plans: readonly PlanId[];
}

/** How worlds are made and merged: of whole trees in git, of one file's image in a directory. */
export interface WorldKind<World> {
  /** Undefined where the sides do not fit together. */
  readonly merge: (base: World, ours: World, theirs: World) => Promise<World | undefined>;
  /** Where the plan began, with what these steps of it change at the paths. */
  readonly claim: (
    plan: Pick<OtherPlan, "record" | "entries">,
    steps: ReadonlySet<string>,
    paths: readonly string[],
  ) => Promise<World>;
  /** What the plan found when it was applied; everything it wanted where it changed nothing. */
  readonly found: (plan: OwnChange["plan"], paths: readonly string[]) => Promise<World>;
  /** The paths at which they differ. */
  readonly differences: (a: World, b: World) => Promise<readonly string[]>;
}

/** The others and the paths that they and the plan at hand have both changed, in the order in which they were applied. */
export type Sharing = readonly { readonly other: OtherPlan; readonly paths: readonly string[] }[];

export function sharing(others: readonly OtherPlan[], paths: ReadonlySet<string>): Sharing {
  return others.flatMap((other) => {
    const both = [...effect(other.entries, stepsIn(other.entries)).keys()].filter((path) => paths.has(path));
    return both.length === 0 ? [] : [{ other, paths: both }];
  });
}

/**
 * What was there, without what other plans have taken back since: the last one in is the first one out. What went with one of them and
 * was brought by a later one too comes back with that.
 */
export async function withoutUndone<World>(kind: WorldKind<World>, found: World, shared: Sharing): Promise<World> {
  const isUndone = ({ other }: Sharing[number]): boolean => [...other.inThen].some((step) => !other.inNow.has(step));
  const first = shared.findIndex(isUndone);
  if (first === -1) return found;
  let world = found;
  for (const { other, paths } of shared.filter(isUndone).toReversed()) {
    [world = found] = await follow(kind, [world], paths, (some) => takenBack(kind, other, some));
  }
  for (const { other, paths } of shared.slice(first + 1)) {
    const [nothing, still] = [new Set<string>(), both(other.inThen, other.inNow)];
    [world = found] = await follow(kind, [world], paths, (some) =>
      claimed(kind, other, { from: nothing, to: still }, some),
    );
  }
  return world;
}

/** What the other plan's undo took out of what it had found. */
async function takenBack<World>(
  kind: WorldKind<World>,
  other: OtherPlan,
  paths: readonly string[],
): Promise<Change<World> | undefined> {
  const { from: began, to: all } = await claimed(kind, other, { from: new Set(), to: other.inThen }, paths);
  const still = await kind.claim(other, both(other.inThen, other.inNow), paths);
  const before = await kind.found(other, paths);
  const [from, to] = [await kind.merge(began, before, all), await kind.merge(began, before, still)];
  return from === undefined || to === undefined ? undefined : { from, to };
}

async function claimed<World>(
  kind: WorldKind<World>,
  plan: OwnChange["plan"],
  steps: { readonly from: ReadonlySet<string>; readonly to: ReadonlySet<string> },
  paths: readonly string[],
): Promise<Change<World>> {
  return { from: await kind.claim(plan, steps.from, paths), to: await kind.claim(plan, steps.to, paths) };
}

/** The worlds with what other plans have brought since. */
export async function withLater<World>(
  kind: WorldKind<World>,
  worlds: readonly World[],
  shared: Sharing,
): Promise<readonly World[]> {
  let moved = worlds;
  for (const { other, paths } of shared) {
    const already = both(other.inThen, other.inNow);
    if (already.size === other.inNow.size) continue;
    moved = await follow(kind, moved, paths, (some) => claimed(kind, other, { from: already, to: other.inNow }, some));
  }
  return moved;
}

/** The plan at hand, and which of its steps are in before and after. */
export interface OwnChange {
  readonly plan: Pick<OtherPlan, "record" | "entries" | "applied">;
  readonly from: ReadonlySet<string>;
  readonly to: ReadonlySet<string>;
}

/** Which plans hold what stays: if the whole of the plan's own claim went, theirs would bring it back. */
export async function holders<World>(
  kind: WorldKind<World>,
  worlds: { readonly from: World; readonly to: World },
  own: OwnChange,
  shared: Sharing,
): Promise<ReadonlyMap<string, PlanId[]>> {
  const paths = [...new Set(shared.flatMap((one) => one.paths))].sort();
  const found = new Map<string, PlanId[]>();
  if (paths.length === 0) return found;
  const [without = worlds.from] = await follow(kind, [worlds.from], paths, (some) =>
    claimed(kind, own.plan, own, some),
  );
  const stays = new Set(await kind.differences(without, worlds.to));
  for (const { other, paths: common } of shared) {
    const asked = common.filter((path) => stays.has(path));
    if (asked.length === 0) continue;
    const all = { from: new Set<string>(), to: other.inNow };
    const [brought = without] = await follow(kind, [without], asked, (some) => claimed(kind, other, all, some));
    for (const path of await kind.differences(without, brought))
      found.set(path, [...(found.get(path) ?? []), other.planId]);
  }
  return found;
}

interface Change<World> {
  readonly from: World;
  readonly to: World;
}

/**
 * Makes another plan's change in all of the worlds or in none. Where it does not fit, it is tried path by path, and a path at which
 * somebody built upon it is left as it is: the merge with what is there now will tell of the overlap.
 */
async function follow<World>(
  kind: WorldKind<World>,
  worlds: readonly World[],
  paths: readonly string[],
  change: (paths: readonly string[]) => Promise<Change<World> | undefined>,
): Promise<readonly World[]> {
  const moved = await followed(kind, worlds, await change(paths));
  if (moved !== undefined) return moved;
  if (paths.length === 1) return worlds;
  let rest = worlds;
  for (const path of paths) rest = await follow(kind, rest, [path], change);
  return rest;
}

async function followed<World>(
  kind: WorldKind<World>,
  worlds: readonly World[],
  change: Change<World> | undefined,
): Promise<readonly World[] | undefined> {
  if (change === undefined) return undefined;
  const moved: World[] = [];
  for (const world of worlds) {
    const merged = await kind.merge(change.from, world, change.to);
    if (merged === undefined) return undefined;
    moved.push(merged);
  }
  return moved;
}

/** What these steps change on the whole. Steps that are left out are later ones on their paths, so the rest fits together. */
export function effect(own: readonly PlanChange[], steps: ReadonlySet<string>): ReadonlyMap<string, NetChange> {
  return netChanges(standingChanges(own, steps));
}

export function stepsIn(entries: readonly PlanChange[]): Set<string> {
  return new Set(entries.map(({ step }) => step));
}

function both(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  return new Set([...a].filter((one) => b.has(one)));
}
