/**
 * Says something in a session. Words for a plan that has not come to its end go to that plan: an answer to its
 * question, guidance, or more work on its result. After its end they are a request, and a new plan continues the
 * conversation. Either is one transaction with the session's own version: of two processes that speak at once, one is
 * refused.
 */
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import { nameKey, parseQualifiedName } from "../../domain/names/qualified-name.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { Session } from "../../domain/plan/session.ts";
import type { Standing } from "../../domain/plan/standing.ts";
import { planEffort } from "../../ledger/plan-effort.ts";
import { REQUEST } from "../../runs/run-setup.ts";
import { turnAt, type SessionTurn } from "../../runs/session-turns.ts";
import { sessionPlans } from "../../store/tables/sessions.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { NextSteps } from "../base/schemas.ts";
import { PlanFacts, planFacts } from "../queries/plan-facts.ts";
import { sessionDirectory } from "../queries/session-facts.ts";
import { makeRunPlan, type RunPlan, type Wish } from "./make-run-plan.ts";
import { guidePlan } from "./prompt-plan.ts";

/** The plan is being worked on by another process, which hears it at its next step. */
export const ToldRunning = PlanFacts.extend({
  outcome: z.literal("told"),
  ran: z.literal(false),
  nextSteps: NextSteps,
});

/** Plans that words can still reach; after any other one a new plan is made. */
const TAKES_MORE: ReadonlySet<Standing> = new Set([
  "not started",
  "working",
  "waiting for you",
  "stopped",
  "ready to review",
]);

/** The words, and the choices for a new plan that differ from those of the last one. */
export type SessionWish = Pick<Wish, "images" | "includeDirty" | "verify"> &
  Partial<Pick<Wish, "actor" | "strategyActor" | "budget" | "effort" | "automationProfile" | "arguments">> & {
    readonly text: string;
  };

export interface ToldPlan extends RunPlan {
  /** Another process works on it: there is nothing to carry on here. */
  readonly isWorkedOn: boolean;
}

export async function lastTurn(app: App, session: Session): Promise<SessionTurn> {
  const store = await app.store();
  const last = (await store.read((reader) => sessionPlans(reader, session.id))).at(-1);
  if (last === undefined) throw new Error(`the session ${session.id} has no plan`);
  return turnAt(store, last);
}

export function takesMore({ place, standing }: SessionTurn): boolean {
  // A plan that a fork shares belongs to the other session.
  return place.shared === undefined && TAKES_MORE.has(standing);
}

export async function tellSession(app: App, session: Session, wish: SessionWish, call: Call): Promise<ToldPlan> {
  const text = wish.text.trim();
  if (text === "") {
    throw new UsageError("Say what comes next.", {
      kept: "Nothing was written.",
      next: [nextStep("tell", { session: session.id, text: "now add a test for it" })],
    });
  }
  const last = await lastTurn(app, session);
  if (!takesMore(last)) {
    const made = await makeRunPlan(app, await nextWish(app, session, last.plan, { ...wish, text }), call);
    return { ...made, isWorkedOn: false };
  }
  refuseChoices(wish, last.plan.id);
  call.tell({ type: "notice", level: "info", text: `Telling plan ${last.plan.id}.` });
  const prompted = await guidePlan(app, last.plan.id, text, { seen: last.question?.id, session });
  const plan = await (await app.plans()).getPlan(last.plan.id);
  const isWorkedOn = last.standing === "working" && prompted.answered === null;
  return { plan, made: [], uncommitted: 0, session: session.id, isWorkedOn };
}

export function toldRunning(plan: Plan): z.output<typeof ToldRunning> {
  return {
    ...planFacts(plan),
    outcome: "told",
    ran: false,
    nextSteps: [nextStep("plan.status", { plan: plan.id })],
  };
}

/** A new plan has the actors of the last one, its effort and the profile that was named for it; a budget of its own. */
async function nextWish(
  app: App,
  session: Session,
  last: Plan,
  wish: SessionWish,
): Promise<Wish & { readonly place: NonNullable<Wish["place"]> }> {
  const store = await app.store();
  const { profile, profileSource, actors } = last;
  const named = profileSource === "plan" ? profile.name : undefined;
  const effort = await store.read((reader) => planEffort(reader, last.id));
  return {
    request: wish.text,
    directory: existsSync(session.directory) ? session.directory : app.paths.dataDir,
    project: session.project,
    actor: wish.actor ?? actors.execution,
    strategyActor: wish.strategyActor ?? (wish.actor === undefined ? actors.strategy : undefined),
    automationProfile: wish.automationProfile ?? named,
    effort: wish.effort ?? effort,
    budget: wish.budget,
    images: wish.images,
    arguments: wish.arguments ?? (wish.actor === undefined ? argumentsOf(last) : undefined),
    includeDirty: wish.includeDirty,
    verify: wish.verify,
    place: { kind: "seen", session },
  };
}

/** The arguments of a run besides its request. */
function argumentsOf({ arguments: given }: Plan): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...given].filter(([name]) => name !== REQUEST));
}

/** A plan that continues has its actors, its budget and its images already: a choice would be without effect. */
function refuseChoices(wish: SessionWish, plan: PlanId): void {
  const { actor, strategyActor, budget, effort, automationProfile, images, arguments: values } = wish;
  const given = Object.entries({ actor, strategyActor, budget, effort, automationProfile, arguments: values })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (images.length > 0) given.push("images");
  if (given.length === 0) return;
  throw new UsageError(
    `The session's last plan ${plan} has not come to its end, and continues as it was made: ${given.join(", ")} cannot be chosen for it.`,
    { kept: "Nothing was recorded.", next: [nextStep("plan.cancel", { plan }, "repeat it without them, or first")] },
  );
}

/** A session is about one project, and its plans follow one another: other requests begin a session of their own. */
export async function requireFitting(
  session: Session,
  { directory, project, request }: Pick<Wish, "directory" | "project" | "request">,
  run: {
    readonly continue: boolean;
    readonly actor?: readonly string[] | undefined;
    readonly bestOf?: number | undefined;
  },
): Promise<void> {
  const here = await sessionDirectory(directory);
  const same =
    project === undefined
      ? here === session.directory && session.host === hostname()
      : nameKey(parseQualifiedName(project, "project")) === nameKey(session.project);
  const why = !same
    ? `Session ${session.number} is about ${session.project} in ${session.directory}, not about ${project ?? here}.`
    : run.continue
      ? "--continue takes the newest plan here, and --session the last one of a session: use one of them."
      : (run.bestOf ?? 1) > 1 || (run.actor ?? []).length > 1
        ? "Several candidates begin sessions of their own; in a session one actor goes on."
        : undefined;
  if (why === undefined) return;
  throw new UsageError(why, {
    kept: "Nothing was written.",
    next: [nextStep("tell", { session: session.id, text: request.trim() || "<what comes next>" })],
  });
}
