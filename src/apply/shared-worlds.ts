/**
 * Two plans may make the same change. The second one then lands nothing, and yet the change is as much its own as the
 * first one's: it stays until both are undone. So undo and redo lead from one world to another that differ in this plan
 * alone, while every other plan is applied or undone as it is now: the state that this plan's apply found, less the
 * changes that other plans undid since, with or without this plan's changes, plus the changes that other plans applied
 * since. A change that another plan made too is in both worlds, and does not move.
 */
import type { PlanId } from "../domain/names/ids.ts";
import { targetChanges, targetTaken, type NetChange } from "../changes/net-changes.ts";
import { standingChanges } from "../changes/standing-changes.ts";
import type { SandboxRecord } from "../ledger/sandbox-records.ts";
import type { PlanChange } from "../changes/plan-changes.ts";
import type { TreeChange } from "../git/git-import.ts";
import type { Landing } from "../ledger/landing.ts";

export interface PlanOnResource {
  /** Its sandbox of the resource at hand. */
  readonly record: SandboxRecord;
  /** Its changes to that resource. */
  readonly entries: readonly PlanChange[];
  /** The landing of its apply there; undefined when every change was there already. */
  readonly applied: Landing | undefined;
  /** Which of its steps were applied after each of its landings; the sequence counts the landings of all plans. */
  readonly history: readonly { readonly sequence: number; readonly steps: ReadonlySet<string> }[];
}

export interface OtherPlan extends PlanOnResource {
  readonly planId: PlanId;
}

/** A path that stays changed although the plan that changed it is undone, because of these plans. */
export interface HeldChange {
  readonly resource: string;
  readonly path: string;
  readonly plans: readonly PlanId[];
}

/** How worlds are made and merged: in git a world is a whole tree, in a directory the image of one file. */
export interface WorldKind<World> {
  /** Undefined where the sides conflict. */
  readonly merge: (base: World, ours: World, theirs: World) => Promise<World | undefined>;
  /** The plan's base, with the changes of these steps at the paths. */
  readonly claim: (plan: PlanOnResource, steps: ReadonlySet<string>, paths: readonly string[]) => Promise<World>;
  /** The state that the plan's apply found; the plan's result where its apply changed nothing. */
  readonly found: (plan: PlanOnResource, paths: readonly string[]) => Promise<World>;
  /** The paths at which they differ. */
  readonly differences: (a: World, b: World) => Promise<readonly string[]>;
}

/** The steps of a plan before and after. */
export interface Steps {
  readonly from: ReadonlySet<string>;
  readonly to: ReadonlySet<string>;
}

interface Change<World> {
  readonly from: World;
  readonly to: World;
}

/** Which steps of each other plan are applied. */
type Standing = (other: OtherPlan) => ReadonlySet<string>;

const NONE: ReadonlySet<string> = new Set();
const now: Standing = ({ history }) => history.at(-1)?.steps ?? NONE;

export class SharedWorlds<World> {
  readonly #kind: WorldKind<World>;
  /** In the order in which they landed, with the paths that they and the plan at hand have both changed. */
  readonly #others: readonly { readonly other: OtherPlan; readonly paths: readonly string[] }[];

  constructor(kind: WorldKind<World>, others: readonly OtherPlan[], paths: ReadonlySet<string>) {
    this.#kind = kind;
    this.#others = others
      .map((other) => ({ other, paths: [...effect(other.entries, stepsIn(other.entries)).keys()] }))
      .map(({ other, paths: its }) => ({ other, paths: its.filter((path) => paths.has(path)) }))
      .filter((one) => one.paths.length > 0)
      .toSorted((a, b) => landedAt(a.other) - landedAt(b.other));
  }

  get isEmpty(): boolean {
    return this.#others.length === 0;
  }

  /** The state that the plan's apply found, without the changes that other plans have undone since. */
  async found(plan: PlanOnResource, paths: readonly string[], standing: Standing = now): Promise<World> {
    const then = standingAt(landedAt(plan));
    let world: World = await this.#kind.found(plan, paths);
    const left = new Map<OtherPlan, ReadonlySet<string>>();
    // The plan that was applied last is removed first.
    for (const { other, common } of this.#sharing(plan, paths).toReversed()) {
      const steps = { from: then(other), to: both(then(other), standing(other)) };
      left.set(other, steps.to);
      if (steps.from.size === steps.to.size) continue;
      // A copy: the state of the others when this one is removed.
      const around = new Map(left);
      const others: Standing = (one) => around.get(one) ?? then(one);
      const change = (some: readonly string[]): Promise<Change<World> | undefined> =>
        this.#between(other, steps, some, others);
      [world = world] = await this.#follow([world], common, change);
    }
    return world;
  }

  /** The worlds of a plan with the changes that other plans have applied since. */
  async brought(
    worlds: Change<World>,
    plan: PlanOnResource,
    paths: readonly string[],
    standing: Standing = now,
  ): Promise<Change<World>> {
    const then = standingAt(landedAt(plan));
    let moved: readonly World[] = [worlds.from, worlds.to];
    for (const { other, common } of this.#sharing(plan, paths)) {
      const steps = { from: both(then(other), standing(other)), to: standing(other) };
      if (steps.from.size === steps.to.size) continue;
      moved = await this.#follow(moved, common, (some) => this.#claimed(other, steps, some));
    }
    const [from = worlds.from, to = worlds.to] = moved;
    return { from, to };
  }

  /**
   * Which plans hold the changes that stay: if this plan's claim were removed as a whole, theirs would restore them.
   */
  async holders(
    worlds: Change<World>,
    plan: PlanOnResource,
    steps: Steps,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, PlanId[]>> {
    const shared = this.#sharing(plan, paths);
    const all = [...new Set(shared.flatMap(({ common }) => common))].sort();
    const found = new Map<string, PlanId[]>();
    if (all.length === 0) return found;
    const [without = worlds.from] = await this.#follow([worlds.from], all, (some) => this.#claimed(plan, steps, some));
    const stays = new Set(await this.#kind.differences(without, worlds.to));
    for (const { other, common } of shared) {
      const asked = common.filter((path) => stays.has(path));
      if (asked.length === 0) continue;
      const claim = { from: NONE, to: now(other) };
      const [more = without, most = worlds.to] = await this.#follow([without, worlds.to], asked, (some) =>
        this.#claimed(other, claim, some),
      );
      // A change that the other plan's claim adds to both worlds is missing for another reason.
      const rest = (await this.#kind.merge(worlds.to, without, most)) ?? more;
      for (const path of await this.#kind.differences(rest, more))
        found.set(path, [...(found.get(path) ?? []), other.planId]);
    }
    return found;
  }

  /**
   * The two worlds that differ only in these steps of the plan; undefined where they cannot be separated from other
   * changes.
   */
  async #between(
    plan: PlanOnResource,
    steps: Steps,
    paths: readonly string[],
    standing: Standing,
  ): Promise<Change<World> | undefined> {
    const found = await this.found(plan, paths, standing);
    const began = await this.#kind.claim(plan, NONE, paths);
    const claims = await this.#claimed(plan, steps, paths);
    const from = await this.#kind.merge(began, found, claims.from);
    const to = await this.#kind.merge(began, found, claims.to);
    if (from === undefined || to === undefined) return undefined;
    return this.brought({ from, to }, plan, paths, standing);
  }

  async #claimed(plan: PlanOnResource, steps: Steps, paths: readonly string[]): Promise<Change<World>> {
    const { claim } = this.#kind;
    return { from: await claim(plan, steps.from, paths), to: await claim(plan, steps.to, paths) };
  }

  #sharing(plan: PlanOnResource, paths: readonly string[]): { readonly other: OtherPlan; readonly common: string[] }[] {
    return this.#others
      .filter(({ other }) => other !== plan)
      .map(({ other, paths: its }) => ({ other, common: its.filter((path) => paths.includes(path)) }))
      .filter(({ common }) => common.length > 0);
  }

  /**
   * Makes another plan's change in all of the worlds or in none. Where it conflicts, it is tried path by path, and a
   * path that others have changed further is left as it is: the merge with the present state will report the overlap.
   */
  async #follow(
    worlds: readonly World[],
    paths: readonly string[],
    change: (paths: readonly string[]) => Promise<Change<World> | undefined>,
  ): Promise<readonly World[]> {
    const moved = await this.#followed(worlds, await change(paths));
    if (moved !== undefined) return moved;
    if (paths.length === 1) return worlds;
    let rest = worlds;
    for (const path of paths) rest = await this.#follow(rest, [path], change);
    return rest;
  }

  async #followed(worlds: readonly World[], change: Change<World> | undefined): Promise<readonly World[] | undefined> {
    if (change === undefined) return undefined;
    const moved: World[] = [];
    for (const world of worlds) {
      const merged = await this.#kind.merge(change.from, world, change.to);
      if (merged === undefined) return undefined;
      moved.push(merged);
    }
    return moved;
  }
}

function landedAt({ history }: PlanOnResource): number {
  return history[0]?.sequence ?? 0;
}

/** The steps of each plan that were applied just before that landing. */
function standingAt(landing: number): Standing {
  return ({ history }) => history.findLast(({ sequence }) => sequence < landing)?.steps ?? NONE;
}

/**
 * The net change of these steps. Steps that are left out are the later ones on their paths, so the rest is consistent.
 */
export function effect(own: readonly PlanChange[], steps: ReadonlySet<string>): ReadonlyMap<string, NetChange> {
  return targetChanges(standingChanges(own, steps));
}

/** The changes of these steps to the plan's base, in which files merged by hand are as the target had them. */
export function treeChanges(own: readonly PlanChange[], steps: ReadonlySet<string>): TreeChange[] {
  const wanted = new Map(targetTaken(own));
  for (const [path, { after }] of effect(own, steps)) wanted.set(path, after);
  return [...wanted].map(([path, after]) => ({ path, after }));
}

export function stepsIn(entries: readonly PlanChange[]): Set<string> {
  return new Set(entries.map(({ step }) => step));
}

function both(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  return new Set([...a].filter((one) => b.has(one)));
}
