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
export interface LandedPlan {
  /** Its sandbox of the resource at hand. */
  readonly record: SandboxRecord;
  /** Its changes to that resource. */
  readonly entries: readonly PlanChange[];
  /** What its apply did there; undefined when everything was there already. */
  readonly applied: Landing | undefined;
  /** Which of its steps were in after each of its landings; the sequence counts the landings of all plans. */
  readonly history: readonly { readonly sequence: number; readonly steps: ReadonlySet<string> }[];
}

export interface OtherPlan extends LandedPlan {
  readonly planId: PlanId;
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
  readonly claim: (plan: LandedPlan, steps: ReadonlySet<string>, paths: readonly string[]) => Promise<World>;
  /** What the plan found when it was applied; everything it wanted where it changed nothing. */
  readonly found: (plan: LandedPlan, paths: readonly string[]) => Promise<World>;
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

/** Which steps of each other plan are in. */
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

  /** What the plan found, without what other plans have taken back since. */
  async found(plan: LandedPlan, paths: readonly string[], standing: Standing = now): Promise<World> {
    const then = standingAt(landedAt(plan));
    let world: World = await this.#kind.found(plan, paths);
    const left = new Map<OtherPlan, ReadonlySet<string>>();
    // The last one in is the first one out.
    for (const { other, common } of this.#sharing(plan, paths).toReversed()) {
      const steps = { from: then(other), to: both(then(other), standing(other)) };
      left.set(other, steps.to);
      if (steps.from.size === steps.to.size) continue;
      // A snapshot: what the others were as this one went.
      const around = new Map(left);
      const others: Standing = (one) => around.get(one) ?? then(one);
      const change = (some: readonly string[]): Promise<Change<World> | undefined> =>
        this.#between(other, steps, some, others);
      [world = world] = await this.#follow([world], common, change);
    }
    return world;
  }

  /** The worlds of a plan with what other plans have brought since it was applied. */
  async brought(
    worlds: Change<World>,
    plan: LandedPlan,
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

  /** Which plans hold what stays: if the whole of the plan's own claim went, theirs would bring it back. */
  async holders(
    worlds: Change<World>,
    plan: LandedPlan,
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
      // What the other plan's claim adds to both is missing for another reason.
      const rest = (await this.#kind.merge(worlds.to, without, most)) ?? more;
      for (const path of await this.#kind.differences(rest, more))
        found.set(path, [...(found.get(path) ?? []), other.planId]);
    }
    return found;
  }

  /** The two worlds that differ in these steps of the plan alone; undefined where they cannot be told from somebody's. */
  async #between(
    plan: LandedPlan,
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

  async #claimed(plan: LandedPlan, steps: Steps, paths: readonly string[]): Promise<Change<World>> {
    const { claim } = this.#kind;
    return { from: await claim(plan, steps.from, paths), to: await claim(plan, steps.to, paths) };
  }

  #sharing(plan: LandedPlan, paths: readonly string[]): { readonly other: OtherPlan; readonly common: string[] }[] {
    return this.#others
      .filter(({ other }) => other !== plan)
      .map(({ other, paths: its }) => ({ other, common: its.filter((path) => paths.includes(path)) }))
      .filter(({ common }) => common.length > 0);
  }

  /**
   * Makes another plan's change in all of the worlds or in none. Where it does not fit, it is tried path by path, and a path at which
   * somebody built upon it is left as it is: the merge with what is there now will tell of the overlap.
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

function landedAt({ history }: LandedPlan): number {
  return history[0]?.sequence ?? 0;
}

/** What of each plan was in just before that landing. */
function standingAt(landing: number): Standing {
  return ({ history }) => history.findLast(({ sequence }) => sequence < landing)?.steps ?? NONE;
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
