import type { FileImage } from "../domain/change-entry.ts";
import type { PlanId } from "../domain/ids.ts";
import { mergeImages } from "./directory-landing.ts";
import { sameImage, type Landing } from "./landing.ts";
import {
  effect,
  holders,
  sharing,
  stepsIn,
  withLater,
  withoutUndone,
  type OtherPlan,
  type OwnChange,
  type WorldKind,
} from "./other-plans.ts";

/** One file of a directory, as an undo or redo leads it from one image to another. */
export interface FileWorlds {
  /** What was there before the plan. */
  readonly found: FileImage | undefined;
  readonly base: FileImage | undefined;
  readonly theirs: FileImage | undefined;
  readonly held: readonly PlanId[];
}

interface World {
  readonly image: FileImage | undefined;
}

type Contents = (hash: string) => Promise<Uint8Array>;

/** Undefined where the plan's change of the file cannot be told from another's. */
export async function fileWorlds(
  path: string,
  own: OwnChange,
  others: readonly OtherPlan[],
  contents: { readonly of: Contents; readonly made: Map<string, Uint8Array> },
): Promise<FileWorlds | undefined> {
  const { plan, from, to } = own;
  const kind = imagesOf(path, contents);
  const shared = sharing(others, new Set([path]));
  const found = await withoutUndone(kind, await kind.found(plan, [path]), shared);
  const began = await kind.claim(plan, new Set(), [path]);
  const base = await kind.merge(began, found, await kind.claim(plan, from, [path]));
  const theirs = await kind.merge(began, found, await kind.claim(plan, to, [path]));
  if (base === undefined || theirs === undefined) return undefined;
  const [before = base, after = theirs] = await withLater(kind, [base, theirs], shared);
  const held = await holders(kind, { from: before, to: after }, own, shared);
  return { found: found.image, base: before.image, theirs: after.image, held: held.get(path) ?? [] };
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

/** What the plan began with there. */
function beganWith(entries: OtherPlan["entries"], path: string): FileImage | undefined {
  const first = entries.find((entry) => entry.path === path || entry.fromPath === path);
  return first === undefined || (first.fromPath !== undefined && first.path === path) ? undefined : first.before;
}

/** A path that apply left alone was already what the plan wanted. */
function imageBefore(moves: Landing["files"], path: string, wanted: FileImage | undefined): FileImage | undefined {
  const move = moves.find((candidate) => candidate.path === path);
  return move === undefined ? wanted : move.before;
}
