/** The worlds of `shared-worlds.ts` for one file of a plain directory: a world is the file's image. */
import type { FileImage } from "../domain/plan/change-entry.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { targetTaken } from "../changes/net-changes.ts";
import { mergeImages } from "./directory-landing.ts";
import { sameImage, type Landing } from "../ledger/landing.ts";
import {
  effect,
  SharedWorlds,
  stepsIn,
  type PlanOnResource,
  type OtherPlan,
  type Steps,
  type WorldKind,
} from "./shared-worlds.ts";

/** One file of a directory, as an undo or redo leads it from one image to another. */
export interface FileWorlds {
  /** The image before the plan. */
  readonly found: FileImage | undefined;
  readonly base: FileImage | undefined;
  readonly theirs: FileImage | undefined;
  readonly held: readonly PlanId[];
}

interface World {
  readonly image: FileImage | undefined;
}

type Contents = (hash: string) => Promise<Uint8Array>;

/** Undefined where the plan's change of the file cannot be separated from another's. */
export async function fileWorlds(
  path: string,
  plan: PlanOnResource,
  steps: Steps,
  others: readonly OtherPlan[],
  contents: { readonly of: Contents; readonly made: Map<string, Uint8Array> },
): Promise<FileWorlds | undefined> {
  const kind = imagesOf(path, contents);
  const paths = [path];
  const shared = new SharedWorlds(kind, others, new Set(paths));
  const found = await shared.found(plan, paths);
  const began = await kind.claim(plan, new Set(), paths);
  const from = await kind.merge(began, found, await kind.claim(plan, steps.from, paths));
  const to = await kind.merge(began, found, await kind.claim(plan, steps.to, paths));
  if (from === undefined || to === undefined) return undefined;
  const worlds = await shared.brought({ from, to }, plan, paths);
  const held = await shared.holders(worlds, plan, steps, paths);
  return { found: found.image, base: worlds.from.image, theirs: worlds.to.image, held: held.get(path) ?? [] };
}

function imagesOf(
  path: string,
  contents: { readonly of: Contents; readonly made: Map<string, Uint8Array> },
): WorldKind<World> {
  return {
    merge: async (base, ours, theirs) => {
      const sides = { base: base.image, now: ours.image, theirs: theirs.image };
      const image = await mergeImages(sides, contents.of, contents.made);
      return image === "conflict" ? undefined : { image };
    },
    claim: async ({ entries }, steps) => {
      const change = effect(entries, steps).get(path);
      return { image: change === undefined ? beganWith(entries, path) : change.after };
    },
    found: async ({ entries, applied }) => {
      const whole = effect(entries, stepsIn(entries)).get(path);
      // A path that the steps change and change back was left alone.
      if (whole === undefined) return { image: beganWith(entries, path) };
      return { image: imageBefore(applied?.files ?? [], path, whole.after) };
    },
    differences: async (a, b) => (sameImage(a.image, b.image) ? [] : [path]),
  };
}

/** The image with which the plan began. */
function beganWith(entries: OtherPlan["entries"], path: string): FileImage | undefined {
  const taken = targetTaken(entries);
  if (taken.has(path)) return taken.get(path);
  const first = entries.find((entry) => entry.path === path || entry.fromPath === path);
  return first === undefined || (first.fromPath !== undefined && first.path === path) ? undefined : first.before;
}

/** A path that apply left alone already held the image that the plan wanted. */
function imageBefore(moves: Landing["files"], path: string, wanted: FileImage | undefined): FileImage | undefined {
  const move = moves.find((candidate) => candidate.path === path);
  return move === undefined ? wanted : move.before;
}
