/** The changes of a plan, as `git diff` shows them, with the steps and decisions that made each change. */
import * as z from "zod";
import type { Plan } from "../../domain/plan/plan.ts";
import { diffOf } from "../../changes/diff-cache.ts";
import { leftOut } from "../../execution/sandbox/unapplied-files.ts";
import { planChanges, type PlanChange } from "../../changes/plan-changes.ts";
import { reviewFiles } from "../../changes/review-files.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { parsePatch } from "../../domain/text/git-patch.ts";
import { shown } from "../../domain/text/text.ts";
import type { App } from "../base/app.ts";
import { creditsOf, HunkFacts, hunkFacts } from "./hunk-facts.ts";

export const ChangedFileFacts = z.strictObject({
  resource: z.string(),
  path: z.string(),
  change: z.enum(["added", "modified", "mode", "deleted"]),
  steps: z.array(z.string()).readonly(),
  decisions: z.array(z.string()).readonly(),
  size: z.int(),
  insertions: z.int(),
  deletions: z.int(),
  binary: z.boolean(),
  /** Where it was before; its old path is a deleted file of its own. */
  renamedFrom: z.string().nullable(),
});

export const PlanDiffFacts = z.strictObject({
  planId: z.string(),
  /** The version of the plan whose changes these are. */
  version: z.int(),
  diffSummary: z.strictObject({
    project: z.string().nullable(),
    filesChanged: z.int(),
    insertions: z.int(),
    deletions: z.int(),
    netChange: z.int(),
  }),
  files: z.array(ChangedFileFacts),
  /** Paths that the plan's commands made and that are not part of the plan; null when that cannot be said now. */
  leftOut: z
    .array(z.strictObject({ resource: z.string(), path: z.string() }))
    .readonly()
    .nullable(),
  /** Which steps, tools and decisions made each hunk, where that was asked for. */
  hunks: z.array(HunkFacts).optional(),
  patch: z.string(),
});

export interface DiffWish {
  /** Only files there or below; all unless given. */
  readonly paths?: readonly string[] | undefined;
  /** With the steps and decisions behind each hunk. */
  readonly why?: boolean;
  /** Changes that are not recorded yet, behind those that are. */
  readonly more?: readonly PlanChange[];
}

export async function changedFiles(app: App, plan: Plan, more: readonly PlanChange[] = []) {
  const store = await app.store();
  const entries = [...(await planChanges(store, plan.id, plan.attempt)), ...more];
  const { files, patch } = await diffOf(store, entries);
  const reviewed = reviewFiles(entries, patch);
  const place = (resource: string, path: string): string => JSON.stringify([resource, path]);
  const known = new Map(reviewed.map((file) => [place(file.resource, file.path), file]));
  const facts = files.map(({ resource, path, change, steps, decisions, size }) => {
    const {
      insertions = 0,
      deletions = 0,
      isBinary = false,
      renamedFrom = null,
    } = known.get(place(resource, path)) ?? {};
    return { resource, path, change, steps, decisions, size, insertions, deletions, binary: isBinary, renamedFrom };
  });
  return { entries, files: facts, reviewed, patch };
}

export async function diffOfPlan(app: App, plan: Plan, wish: DiffWish = {}): Promise<z.output<typeof PlanDiffFacts>> {
  const all = await changedFiles(app, plan, wish.more);
  const { entries } = all;
  const isWanted = pathFilter(wish.paths ?? [], all.files);
  const reviewed = all.reviewed.filter(isWanted);
  const renamed = new Set(reviewed.flatMap(({ renamedFrom }) => renamedFrom ?? []));
  const files = all.files.filter((file) => isWanted(file) || renamed.has(file.path));
  const patch =
    wish.paths === undefined ? all.patch : patchOf(all.patch, new Set(reviewed.map((file) => file.shownAs)));
  const insertions = reviewed.reduce((sum, file) => sum + file.insertions, 0);
  const deletions = reviewed.reduce((sum, file) => sum + file.deletions, 0);
  const hunks =
    wish.why === true ? { hunks: await hunkFacts(reviewed, await creditsOf(await app.store(), plan, entries)) } : {};
  return {
    planId: plan.id,
    version: plan.version,
    diffSummary: {
      project: plan.projects[0]?.project ?? null,
      filesChanged: files.length,
      insertions,
      deletions,
      netChange: insertions - deletions,
    },
    files,
    leftOut: (await leftOut(app.paths.sandboxes, plan, entries)) ?? null,
    ...hunks,
    patch,
  };
}

type Place = Pick<z.output<typeof ChangedFileFacts>, "resource" | "path" | "renamedFrom">;

/** By a path of a resource, or by the resource's alias in front of it, as the patch has it when there are several. */
function pathFilter(
  paths: readonly string[],
  files: readonly Place[],
): (file: Pick<Place, "resource" | "path"> & { readonly renamedFrom?: string | null | undefined }) => boolean {
  if (paths.length === 0) return () => true;
  const wanted = paths.map((path) => path.replace(/^\.\//, "").replace(/\/+$/, ""));
  const isAt = (name: string, one: string): boolean =>
    one === "" || one === "." || name === one || name.startsWith(`${one}/`);
  const isWanted = ({ resource, path, renamedFrom }: Parameters<ReturnType<typeof pathFilter>>[0]): boolean =>
    [path, renamedFrom].some(
      (name) => typeof name === "string" && wanted.some((one) => isAt(name, one) || isAt(`${resource}/${name}`, one)),
    );
  if (files.some(isWanted)) return isWanted;
  throw new UsageError(`The plan changed nothing at ${wanted.map((one) => shown(one)).join(", ")}.`, {
    kept: "Nothing was changed.",
    next: [
      {
        text: `it changed ${files
          .slice(0, 3)
          .map(({ path }) => path)
          .join(", ")}${files.length > 3 ? ", …" : ""}`,
      },
    ],
  });
}

function patchOf(patch: string, names: ReadonlySet<string>): string {
  return parsePatch(patch)
    .filter(({ before, after }) => names.has(after ?? before ?? ""))
    .flatMap(({ header, hunks }) => [...header, ...hunks.flatMap((hunk) => [hunk.header, ...hunk.lines])])
    .map((line) => `${line}\n`)
    .join("");
}
