/** Marks changes of a plan as accepted or rejected, and tells the plan what was rejected, in its own conversation. */
import { PlanError, UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { stateText } from "../../domain/plan/standing.ts";
import { isTerminal, statusKey } from "../../domain/plan/transitions.ts";
import { textProblem } from "../../domain/text/text.ts";
import { assertReviewed, findReview, saveReview, type ReviewMark } from "../../ledger/reviews.ts";
import { requireVersion } from "../../plans/transition.ts";
import { findPlan } from "../../store/tables/plans.ts";
import { sessionOfPlan } from "../../store/tables/sessions.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { unitLines, unitName, verdictOf, type Reviewable } from "../queries/review-facts.ts";
import { guidePlan } from "./prompt-plan.ts";
import { tellSession } from "./tell-session.ts";

/** The same review with these marks in it, recorded for the version of plan and review that was seen. */
export async function mark(app: App, seen: Reviewable, marks: ReadonlyMap<string, ReviewMark>): Promise<Reviewable> {
  for (const { reason, comment } of marks.values()) {
    for (const text of [reason, comment]) {
      const problem = text === undefined ? undefined : textProblem(text, LONGEST);
      if (problem !== undefined) throw new UsageError(`The reason ${problem}.`, { kept: "Nothing was recorded." });
    }
  }
  requireOpen(seen.plan);
  const [store, user] = [await app.store(), await app.user()];
  const review = await store.transaction(async (tx) => {
    requireVersion((await findPlan(tx, seen.plan.id)) ?? seen.plan, seen.plan.version);
    await saveReview(tx, { plan: seen.plan, seen: seen.review.revision, marks, user });
    return findReview(tx, seen.plan);
  });
  return { ...seen, review };
}

const LONGEST = 4_000;

function requireOpen(plan: Plan): void {
  if (!isTerminal(plan)) return;
  throw new PlanError(`The plan ${plan.id} is ${plan.state}: its review is closed.`, {
    kept: "The review is as it was.",
    next: [nextStep(plan.state === "applied" ? "plan.undo" : "plan.status", { plan: plan.id })],
  });
}

/** The plan continues with the reasons; after a partial apply a new plan of the same session does. */
export async function sendBack(app: App, seen: Reviewable, call: Call): Promise<Plan> {
  const { plan, review } = seen;
  const text = guidanceText(seen);
  const store = await app.store();
  if (statusKey(plan) === "apply/applied") {
    const session = await store.read((reader) => sessionOfPlan(reader, plan.id));
    if (session === undefined) {
      throw new PlanError(`The plan ${plan.id} is applied, and belongs to no session that could continue.`, {
        kept: "The review is kept.",
        next: [nextStep("run", { request: "<what should be different>" })],
      });
    }
    const wish = { text, images: [], includeDirty: false, verify: true };
    return (await tellSession(app, session, wish, call)).plan;
  }
  if (statusKey(plan) !== "execute/complete") {
    throw new PlanError(
      `The plan ${plan.id} is ${stateText(plan)}: only a plan that is ready to review takes a review.`,
      {
        kept: "The review is kept.",
        next: [nextStep("plan.status", { plan: plan.id })],
      },
    );
  }
  await guidePlan(app, plan.id, text, {
    require: async (tx, now) => {
      requireVersion(now, plan.version);
      await assertReviewed(tx, plan.id, review.revision);
      return now;
    },
  });
  return (await app.plans()).getPlan(plan.id);
}

/** Of a long change the beginning is enough to find it. */
const LINES_TOLD = 40;

function guidanceText({ plan, files, review }: Reviewable): string {
  const told = files.flatMap((file) =>
    file.units.flatMap((unit) => {
      const { reason, comment } = review.marks.get(unit.id) ?? {};
      const verdict = verdictOf(review, unit);
      if (verdict !== "rejected" && comment === undefined) return [];
      const lines = unitLines(file, unit);
      const cut = lines.length > LINES_TOLD ? [...lines.slice(0, LINES_TOLD), "…"] : lines;
      const why = verdict === "rejected" ? `rejected: ${reason ?? "no reason was given"}` : verdict;
      return [
        [`${unitName(file, unit)} (${why})`, ...(comment === undefined ? [] : [`Comment: ${comment}`]), ...cut].join(
          "\n",
        ),
      ];
    }),
  );
  if (told.length === 0) {
    throw new UsageError("Nothing is rejected, and nothing has a comment: there is nothing to tell the plan.", {
      kept: "The review is kept.",
      next: [nextStep("plan.review", { plan: plan.id })],
    });
  }
  const rest = "Change what was rejected, as the reasons and comments say. Leave the other changes as they are.";
  return [`Your changes were reviewed. ${rest}`, ...told.map((one, index) => `${index + 1}. ${one}`)]
    .join("\n\n")
    .slice(0, MOST_TOLD);
}

const MOST_TOLD = 50_000;
