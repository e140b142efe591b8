import { assertAvailable, type Action } from "../domain/action/action.ts";
import { aliasIssue } from "../domain/names/alias.ts";
import { argumentText, resolveArguments, type GivenArguments } from "../domain/action/arguments.ts";
import { DEFAULT_PROFILE, type AutomationProfile, type ProfileSource } from "../domain/profile/automation-profile.ts";
import { ConflictError, ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Microdollars } from "../domain/money/money.ts";
import type { Plan, ProjectLink } from "../domain/plan/plan.ts";
import {
  NAME_PART_LIMIT,
  nameKey,
  nameParts,
  parseQualifiedName,
  type QualifiedName,
} from "../domain/names/qualified-name.ts";
import { renderTemplate } from "../domain/values/template.ts";
import { looserFields, tighterProfile } from "../domain/profile/tighter-profile.ts";
import { setOwnBudget } from "../ledger/own-budget.ts";
import { insertPlanImages, type StagedImage } from "../ledger/plan-images.ts";
import { insertStepActors } from "../ledger/plan-step-actors.ts";
import { setPlanEffort } from "../ledger/plan-effort.ts";
import type { Reasoning } from "../domain/actor/reasoning.ts";
import { actionNames, findAction } from "../store/tables/actions.ts";
import { maskedText } from "../platform/masking.ts";
import { insertPlanStages } from "../store/tables/plan-stages.ts";
import { hasPlans, insertPlan } from "../store/tables/plans.ts";
import { requireProfile } from "../store/tables/profiles.ts";
import { findProject, findProjects } from "../store/tables/projects.ts";
import type { Reader, Tx } from "../store/port.ts";
import { attachedValidations } from "../store/tables/validations.ts";
import { planResources, requireSandboxes } from "./in-place-rules.ts";
import { notFoundError } from "../domain/names/not-found.ts";
import { planActors, planStepActors, type ActorChoice } from "./plan-actors.ts";
import { joinSession, type SessionPlace } from "./join-session.ts";
import { planStages } from "./stage-arguments.ts";
import { recordEvent, type RecordSource } from "./transition.ts";

/** A plan is wanted of an action: which, for which projects, with which arguments. */
export interface UseActionInput extends ActorChoice {
  readonly action: string;
  readonly projects?: readonly (string | ProjectLinkInput)[];
  readonly arguments?: GivenArguments;
  readonly automationProfile?: string | undefined;
  /** The configured sandbox setting; the profile of the action can only make it stricter. */
  readonly configuredProfile?: { readonly name: string; readonly source: "project" | "global" } | undefined;
  /** Modules that stand in for stages of context assembly, in this plan only; each by the stage's name. */
  readonly contextStages?: Readonly<Record<string, string>>;
  /** How much its models think, instead of what their actors say. */
  readonly effort?: Reasoning | undefined;
  /** Images that belong to the request. */
  readonly images?: readonly StagedImage[];
  /** The budget for its models, if lower than the configured one. */
  readonly budget?: Microdollars | undefined;
  /** Written in the same transaction as the plan. */
  readonly alongside?: ((tx: Tx, plan: Plan) => Promise<void>) | undefined;
  /** The session it is part of; a plan may be part of none. */
  readonly session?: SessionPlace | undefined;
}

/** A project for a new plan, with an alias of the caller's choice. */
export interface ProjectLinkInput {
  readonly project: string;
  readonly alias?: string | undefined;
  readonly readOnly?: boolean;
}

/**
 * The arguments as the action takes them. Checked before the transaction, because no other process can write during
 * one: the patterns of an action are a user's regular expressions and may be slow. It stays true: of an action only its
 * state ever changes.
 */
export function argumentsFor(action: Action, input: UseActionInput): ReturnType<typeof resolveArguments> {
  assertAvailable(action);
  return resolveArguments(action.arguments, input.arguments ?? {});
}

/** Checks everything else, then writes the plan, its event and its audit entry in the caller's transaction. */
export async function makePlan(
  tx: Tx,
  recordSource: RecordSource,
  input: UseActionInput,
  values: ReturnType<typeof argumentsFor>,
): Promise<Plan> {
  const action = await requireAction(tx, input.action);
  assertAvailable(action);
  if (!action.reusable && (await hasPlans(tx, action.name))) {
    throw new ConflictError(
      `The action "${action.name}" is not reusable and has been used already.`,
      { expected: "no plan of this action", actual: "a plan exists" },
      { kept: "Nothing was written.", next: [nextStep("plan.list", { action: action.name })] },
    );
  }
  const projects = await links(tx, input.projects ?? []);
  const stages = planStages(input.contextStages ?? {});
  const { profile, source } = await resolveProfile(tx, action, input);
  const actors = await planActors(tx, action, input, profile);
  const stepActors = await planStepActors(tx, action, input, { actors, profile });
  const plan = newPlan({
    action,
    values,
    actors,
    projects,
    profile,
    source,
    id: recordSource.ids() as PlanId,
    at: recordSource.clock(),
  });
  const validations = await attachedValidations(tx, plan);
  requireSandboxes(plan, await planResources(tx, plan), validations, "Nothing was written.");
  await insertPlan(tx, plan);
  await insertPlanStages(tx, plan.id, stages);
  await insertStepActors(tx, plan.id, stepActors);
  const images = input.images ?? [];
  await insertPlanImages(tx, plan.id, images);
  if (input.effort !== undefined)
    await setPlanEffort(tx, { planId: plan.id, effort: input.effort, user: recordSource.user });
  const session =
    input.session === undefined ? undefined : await joinSession(tx, recordSource.ids, plan, input.session);
  await recordEvent(tx, recordSource, {
    type: "plan.created",
    at: plan.createdAt,
    plan,
    details: {
      action: plan.action,
      projects: projects.map(({ project }) => project),
      profile: profile.name,
      ...(session === undefined ? {} : { session }),
      ...(images.length === 0 ? {} : { images: images.map(({ facts }) => facts.sha256) }),
      ...(stages.size === 0 ? {} : { context_stages: Object.fromEntries(stages) }),
    },
  });
  // A plan may have less than its profile allows, never more.
  await setOwnBudget(tx, { planId: plan.id, cap: input.budget, user: recordSource.user, excess: "lower" });
  await input.alongside?.(tx, plan);
  return plan;
}

interface PlanParts extends Pick<Plan, "actors" | "projects" | "profile" | "id"> {
  readonly action: Action;
  readonly values: ReturnType<typeof argumentsFor>;
  readonly source: Plan["profileSource"];
  readonly at: number;
}

function newPlan({ action, values, source, at, ...parts }: PlanParts): Plan {
  const texts = new Map([...values].map(([name, value]) => [name, argumentText(value)]));
  const none = { startedAt: undefined, endedAt: undefined };
  return {
    ...parts,
    name: planName(action.name, parts.id),
    action: action.name,
    attempt: 1,
    reversionCount: 0,
    version: 1,
    phase: "strategize",
    state: "queued",
    // They go into prompts and commit messages; the arguments themselves stay as they are.
    description: maskedText(renderTemplate(action.description, texts, "description")),
    definitionOfDone: maskedText(renderTemplate(action.definitionOfDone, texts, "definition_of_done")),
    readOnly: action.readOnly,
    arguments: values,
    invariants: action.invariants,
    profileSource: source,
    cancelReason: undefined,
    undoneAt: undefined,
    createdAt: at,
    updatedAt: at,
    phaseTimes: { strategize: none, execute: none, apply: none },
  };
}

export async function requireAction(reader: Reader, text: string): Promise<Action> {
  const name = parseQualifiedName(text, "action");
  const action = await findAction(reader, name);
  if (action !== undefined) return action;
  throw notFoundError("action", name, await actionNames(reader));
}

async function links(reader: Reader, wanted: readonly (string | ProjectLinkInput)[]): Promise<ProjectLink[]> {
  const found: ProjectLink[] = [];
  const issues: ValidationIssue[] = [];
  for (const one of wanted) {
    const { project: text, alias, readOnly = false } = typeof one === "string" ? { project: one } : one;
    const name = parseQualifiedName(text, "project");
    const project = await findProject(reader, name);
    if (project === undefined)
      throw notFoundError(
        "project",
        name,
        (await findProjects(reader)).map((known) => known.name),
      );
    const link = { project: project.name, alias: alias ?? nameParts(project.name).name, readOnly };
    const issue = aliasIssue(link.alias);
    if (issue !== undefined) issues.push(issue);
    const twin = found.find((other) => other.alias === link.alias || nameKey(other.project) === nameKey(link.project));
    if (twin !== undefined) {
      issues.push({
        path: "projects",
        message: `"${link.project}" and "${twin.project}" clash: each project once, each alias once`,
      });
    }
    found.push(link);
  }
  if (issues.length > 0) {
    throw new ValidationError(`The projects do not fit: ${issues.map(({ message }) => message).join("; ")}.`, issues);
  }
  return found;
}

/**
 * The flag, else what is configured (project > global > default), which the action's own profile can only make
 * stricter: an action may come from another person.
 */
async function resolveProfile(
  reader: Reader,
  action: Action,
  input: UseActionInput,
): Promise<{ profile: AutomationProfile; source: ProfileSource }> {
  const { automationProfile: flag, configuredProfile: configured } = input;
  if (flag !== undefined) return { profile: await requireProfile(reader, flag), source: "plan" };
  const own = await requireProfile(reader, configured?.name ?? DEFAULT_PROFILE);
  const source = configured?.source ?? "default";
  if (action.automationProfile === undefined) return { profile: own, source };
  const wanted = await requireProfile(reader, action.automationProfile);
  if (looserFields(own, wanted).length === 0) return { profile: own, source };
  return { profile: tighterProfile(wanted, own), source: "action" };
}

/** The action's name and the end of the id (its beginning is the time, the same for plans made together). */
function planName(action: QualifiedName, id: PlanId): QualifiedName {
  const { name } = nameParts(action);
  const shortened = action.slice(0, action.length - name.length) + name.slice(0, NAME_PART_LIMIT - 9);
  return `${shortened}-${id.slice(-8).toLowerCase()}` as QualifiedName;
}
