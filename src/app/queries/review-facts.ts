/** The review of a plan: every change of its diff that can be taken or left, and what was decided about it. */
import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { countChanged } from "../../domain/text/git-patch.ts";
import { shown } from "../../domain/text/text.ts";
import { diffOf } from "../../changes/diff-cache.ts";
import { isReviewStep, planChanges, type PlanChange } from "../../changes/plan-changes.ts";
import { reviewFiles, type ReviewFile, type ReviewUnit } from "../../changes/review-files.ts";
import { findReview, type Review } from "../../ledger/reviews.ts";
import type { Store } from "../../store/port.ts";
import { NextSteps } from "../base/schemas.ts";
import { CreditFacts, creditsOf, type Credits } from "./hunk-facts.ts";

const ChangeFacts = z.strictObject({
  id: z.string(),
  /** How it is named on a command line: FILE, FILE:HUNK or FILE:HUNK.PART. */
  name: z.string(),
  kind: z.enum(["lines", "rename", "mode", "whole"]),
  hunk: z.int().nullable(),
  verdict: z.enum(["accepted", "rejected", "undecided"]),
  reason: z.string().nullable(),
  comment: z.string().nullable(),
  insertions: z.int(),
  deletions: z.int(),
  lines: z.array(z.string()).readonly(),
  by: z.array(CreditFacts),
});

export const ReviewFacts = z.strictObject({
  planId: z.string(),
  version: z.int(),
  /** A save names the revision that it is for: another reviewer may have been faster. */
  revision: z.int(),
  files: z.array(
    z.strictObject({
      resource: z.string(),
      path: z.string(),
      renamedFrom: z.string().nullable(),
      binary: z.boolean(),
      changes: z.array(ChangeFacts),
    }),
  ),
  summary: z.strictObject({ accepted: z.int(), rejected: z.int(), undecided: z.int() }),
  /** The plan was told what was rejected. */
  sentBack: z.boolean(),
  nextSteps: NextSteps,
});

/** A plan's diff and its review, as they are now. */
export interface Reviewable {
  readonly plan: Plan;
  /** Its changes as the plan made them, also where only a part was applied. */
  readonly entries: readonly PlanChange[];
  readonly files: readonly ReviewFile[];
  readonly review: Review;
  readonly credits: Credits;
}

export interface NamedUnit {
  readonly file: ReviewFile;
  readonly unit: ReviewUnit;
}

export async function reviewable(store: Store, plan: Plan): Promise<Reviewable> {
  const entries = (await planChanges(store, plan.id, plan.attempt)).filter(({ step }) => !isReviewStep(step));
  const { patch } = await diffOf(store, entries);
  const review = await store.read((reader) => findReview(reader, plan));
  return { plan, entries, files: reviewFiles(entries, patch), review, credits: await creditsOf(store, plan, entries) };
}

export function unitName(file: ReviewFile, unit: ReviewUnit): string {
  const { kind, hunk } = unit;
  if (kind === "whole") return file.shownAs;
  if (kind !== "lines") return `${file.shownAs}:${kind}`;
  const parts = file.units.filter((one) => one.hunk === hunk);
  return `${file.shownAs}:${hunk}${parts.length === 1 ? "" : `.${parts.indexOf(unit) + 1}`}`;
}

/** FILE, a directory, FILE:HUNK, FILE:HUNK.PART, FILE:rename, FILE:mode, or the id of a change. */
export function unitsNamed(files: readonly ReviewFile[], name: string): NamedUnit[] {
  const all = files.flatMap((file) => file.units.map((unit) => ({ file, unit })));
  const names = ({ resource, path, shownAs }: ReviewFile): string[] => [path, shownAs, `${resource}/${path}`];
  const below = name.replace(/\/+$/, "");
  const [, ofFile = "", place = ""] = /^(.*):([^:]+)$/s.exec(name) ?? [];
  const isPlaced = ({ file, unit }: NamedUnit): boolean =>
    names(file).includes(ofFile) && (String(unit.hunk) === place || unitName(file, unit).endsWith(`:${place}`));
  const ways: ((one: NamedUnit) => boolean)[] = [
    ({ file }) => names(file).includes(name),
    ({ unit }) => unit.id === name,
    isPlaced,
    ({ file }) => below === "." || names(file).some((one) => one.startsWith(`${below}/`)),
  ];
  for (const way of ways) {
    const found = all.filter(way);
    if (found.length > 0) return found;
  }
  const some = all.slice(0, 3).map(({ file, unit }) => unitName(file, unit));
  throw new UsageError(`The plan has no change ${shown(name)}.`, {
    kept: "Nothing was recorded.",
    next: [{ text: `name one of ${some.join(", ")}${all.length > 3 ? ", …" : ""}` }],
  });
}

export function verdictOf(review: Review, unit: ReviewUnit): z.output<typeof ChangeFacts>["verdict"] {
  return review.marks.get(unit.id)?.verdict ?? "undecided";
}

export function unitLines(file: ReviewFile, unit: ReviewUnit): readonly string[] {
  if (unit.kind === "rename") return [`rename from ${file.renamedFrom ?? ""}`, `rename to ${file.path}`];
  if (unit.kind === "mode") return file.header.filter((line) => /^(?:old|new) mode /.test(line));
  if (unit.group === undefined) return file.isBinary ? ["Binary file"] : file.hunks.flatMap(({ lines }) => lines);
  return file.hunks[(unit.hunk ?? 1) - 1]?.lines.slice(unit.group.from, unit.group.to) ?? [];
}

export async function reviewFacts(
  { plan, files, review, credits }: Reviewable,
  rest: Pick<z.output<typeof ReviewFacts>, "sentBack" | "nextSteps">,
): Promise<z.output<typeof ReviewFacts>> {
  const facts: z.output<typeof ReviewFacts>["files"] = [];
  const summary = { accepted: 0, rejected: 0, undecided: 0 };
  for (const file of files) {
    const changes: z.output<typeof ChangeFacts>[] = [];
    for (const unit of file.units) {
      const verdict = verdictOf(review, unit);
      summary[verdict] += 1;
      const { reason = null, comment = null } = review.marks.get(unit.id) ?? {};
      const lines = unitLines(file, unit);
      const counted = unit.kind === "lines" || unit.kind === "whole" ? lines : [];
      changes.push({
        id: unit.id,
        name: unitName(file, unit),
        kind: unit.kind,
        hunk: unit.hunk ?? null,
        verdict,
        reason,
        comment,
        ...countChanged([{ header: "", oldStart: 0, newStart: 0, lines: counted }]),
        lines,
        by: await credits(file, [unit]),
      });
    }
    const { resource, path, renamedFrom = null, isBinary } = file;
    facts.push({ resource, path, renamedFrom, binary: isBinary, changes });
  }
  return { planId: plan.id, version: plan.version, revision: review.revision, files: facts, summary, ...rest };
}
