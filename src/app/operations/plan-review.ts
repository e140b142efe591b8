import * as z from "zod";
import { parse } from "yaml";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import { isTerminal, statusKey } from "../../domain/plan/transitions.ts";
import type { ReviewMark } from "../../ledger/reviews.ts";
import { defineOperation } from "../base/operation.ts";
import { Document, PlanGiven } from "../base/schemas.ts";
import { mark, sendBack } from "../procedures/review-plan.ts";
import { walk } from "../procedures/review-walk.ts";
import { planMeant } from "../queries/plan-meant.ts";
import { reviewable, reviewFacts, ReviewFacts, unitsNamed, type Reviewable } from "../queries/review-facts.ts";

const Names = z.array(z.string().min(1)).default([]);

const Input = z.strictObject({
  ...PlanGiven,
  list: z.boolean().default(false),
  accept: Names,
  reject: Names,
  clear: Names,
  comment: Names,
  message: z.string().optional(),
  /** A file of marks, in JSON or YAML. */
  marks: Document.optional(),
  revision: z.int().optional(),
  sendBack: z.boolean().default(false),
});

/** The marks of a file, for the revision of the review that its writer saw. */
const Marks = z.strictObject({
  revision: z.int(),
  marks: z.array(
    z.strictObject({
      change: z.string().min(1),
      verdict: z.enum(["accepted", "rejected", "undecided"]).optional(),
      reason: z.string().optional(),
      comment: z.string().optional(),
    }),
  ),
});

export const operation = defineOperation({
  input: Input,
  output: ReviewFacts,
  run: async (app, input, call) => {
    const { plan: named, directory } = input;
    const wanted = { operation: "plan.review", standings: ["ready to review", "applied", "stopped"] } as const;
    const plan = await planMeant(app, { plan: named, directory }, wanted, call);
    let seen = await reviewable(await app.store(), plan);
    const [marks, revision] = marksOf(seen, input);
    if (marks.size > 0) {
      const review = { ...seen.review, revision: revision ?? seen.review.revision };
      seen = await mark(app, { ...seen, review }, marks);
    } else if (!input.list && !input.sendBack && call.answers === "person" && !isTerminal(plan)) {
      seen = await walk(app, seen, call);
    }
    if (!input.sendBack) return reviewFacts(seen, { sentBack: false, nextSteps: nextSteps(seen) });
    const told = await sendBack(app, seen, call);
    return reviewFacts(seen, { sentBack: true, nextSteps: [nextStep("plan.execute", { plan: told.id })] });
  },
});

const NOTHING: ReviewMark = { verdict: undefined, reason: undefined, comment: undefined };

function marksOf(
  seen: Reviewable,
  input: z.output<typeof Input>,
): readonly [Map<string, ReviewMark>, number | undefined] {
  const marks = new Map<string, ReviewMark>();
  const put = (name: string, change: (old: ReviewMark) => ReviewMark): void => {
    for (const { unit } of unitsNamed(seen.files, name))
      marks.set(unit.id, change(marks.get(unit.id) ?? seen.review.marks.get(unit.id) ?? NOTHING));
  };
  const { message } = input;
  if (message !== undefined && input.reject.length + input.comment.length === 0) {
    throw new UsageError(
      "--message says why something is rejected, or comments on it: name that with --reject or --comment.",
      {
        kept: "Nothing was recorded.",
      },
    );
  }
  if (input.comment.length > 0 && message === undefined) {
    throw new UsageError("Say the comment with --message.", { kept: "Nothing was recorded." });
  }
  for (const name of input.accept) put(name, (old) => ({ ...old, verdict: "accepted", reason: undefined }));
  for (const name of input.reject) put(name, (old) => ({ ...old, verdict: "rejected", reason: message }));
  for (const name of input.clear) put(name, () => NOTHING);
  for (const name of input.comment) put(name, (old) => ({ ...old, comment: message }));
  if (input.marks === undefined) return [marks, input.revision];
  const file = readMarks(input.marks.text, input.marks.file);
  for (const { change, verdict, reason, comment } of file.marks)
    put(change, (old) => ({
      verdict: verdict === undefined ? old.verdict : verdict === "undecided" ? undefined : verdict,
      reason: reason ?? (verdict === undefined ? old.reason : undefined),
      comment: comment ?? old.comment,
    }));
  return [marks, file.revision];
}

function readMarks(text: string, name: string): z.output<typeof Marks> {
  let read: unknown;
  try {
    read = parse(text);
  } catch (error) {
    throw new UsageError(
      `${name} is neither JSON nor YAML: ${error instanceof Error ? error.message : String(error)}.`,
      {
        kept: "Nothing was recorded.",
      },
    );
  }
  const marks = Marks.safeParse(read);
  if (marks.success) return marks.data;
  const [issue] = marks.error.issues;
  throw new UsageError(`${name} is not a review: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}.`, {
    kept: "Nothing was recorded.",
    next: [
      { text: 'write { "revision": 1, "marks": [{ "change": "src/a.ts:1", "verdict": "rejected", "reason": "…" }] }' },
    ],
  });
}

function nextSteps({ plan, files, review }: Reviewable): NextStep[] {
  const all = files.flatMap(({ units }) => units);
  const verdicts = all.map(({ id }) => review.marks.get(id));
  const accepted = verdicts.filter((one) => one?.verdict === "accepted").length;
  const isTold = verdicts.some((one) => one?.verdict === "rejected" || one?.comment !== undefined);
  const back = isTold ? [nextStep("plan.review", { plan: plan.id, sendBack: true })] : [];
  if (statusKey(plan) === "apply/applied") return [...back, nextStep("plan.undo", { plan: plan.id })];
  if (isTerminal(plan)) return [];
  if (accepted === 0) return back.length > 0 ? back : [nextStep("plan.review", { plan: plan.id, accept: ["."] })];
  const land = nextStep("plan.apply", { plan: plan.id, ...(accepted === all.length ? {} : { accepted: true }) });
  return [land, ...back];
}
