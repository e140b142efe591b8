/** The files that an apply, undo or redo writes, and where: prepared, or done. */
import * as z from "zod";
import { shortRef } from "../../apply/git-target.ts";
import type { Landing } from "../../ledger/landing.ts";
import type { PreparedLandings } from "../../apply/prepare-landings.ts";

export const LandingFacts = z.strictObject({
  resource: z.string(),
  path: z.string(),
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  previousCommit: z.string().nullable(),
  checkedOut: z.boolean().nullable(),
  /** Whether the branch was made for the changes; null for a directory. */
  newBranch: z.boolean().nullable(),
  files: z.array(z.string()),
});

/** A change that stays although it is undone, because other plans made it too. */
export const HeldFacts = z.strictObject({
  resource: z.string(),
  path: z.string(),
  plans: z.array(z.string()).readonly(),
});

/** The files that would be written, shown before the question. */
export const LandingPreview = z.strictObject({
  landings: z.array(LandingFacts),
  held: z.array(HeldFacts).readonly(),
  conflicts: z.array(z.strictObject({ resource: z.string(), path: z.string(), why: z.string() })).readonly(),
});

export function landingFacts({ alias, root, git, files }: Landing): z.output<typeof LandingFacts> {
  return {
    resource: alias,
    path: root,
    branch: git === undefined ? null : shortRef(git.ref),
    commit: git === undefined ? null : git.newCommit,
    previousCommit: git === undefined ? null : git.oldCommit,
    checkedOut: git?.checkedOut ?? null,
    newBranch: git === undefined ? null : git.created === true,
    files: files.map(({ path }) => path),
  };
}

export function landingPreview({ landings, held, conflicts }: PreparedLandings): z.output<typeof LandingPreview> {
  return {
    landings: landings.map(landingFacts),
    held: held.map(({ resource, path, plans }) => ({ resource, path, plans })),
    conflicts: conflicts.map(({ resource, path, why }) => ({ resource, path: path ?? "", why })),
  };
}
