/** Makes the plan of a request, with the things it needs that are not there yet. */
import { relative } from "node:path";
import type { Reasoning } from "../../domain/actor/reasoning.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { actorVariables } from "../../domain/actor/tool-actor.ts";
import { suggested } from "../../domain/definition/checked-schema.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { isId, type SessionId } from "../../domain/names/ids.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { SessionPlace } from "../../plans/join-session.ts";
import type { UseActionInput } from "../../plans/use-action.ts";
import { REQUEST, setUpRun, uncommittedFiles } from "../../runs/run-setup.ts";
import { sessionOfPlan } from "../../store/tables/sessions.ts";
import type { App } from "../base/app.ts";
import { confirmed, type Call } from "../base/call.ts";
import { sessionDirectory } from "../queries/session-facts.ts";
import type { ExecutePlanOptions } from "./execute-plan.ts";
import { givenImages } from "./given-images.ts";
import { configuredProfile, defaultActors, runActor, runBudget } from "./plan-defaults.ts";

/** A request in words, and how it is to be carried out. */
export interface Wish extends ExecutePlanOptions {
  readonly request: string;
  readonly directory: string;
  readonly project?: string | undefined;
  readonly actor?: string | undefined;
  readonly strategyActor?: string | undefined;
  readonly stepActors?: readonly string[] | undefined;
  readonly budget?: string | undefined;
  readonly effort?: Reasoning | undefined;
  readonly automationProfile?: string | undefined;
  readonly images: readonly string[];
  /** Values for the arguments that a tool actor takes. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** The session that its plan continues; otherwise one begins with it. */
  readonly place?: SessionPlace;
  /** The id of the session that begins with it; made unless given. */
  readonly newSession?: string | undefined;
  /** Written in the same transaction as its plan. */
  readonly alongside?: UseActionInput["alongside"];
}

/** The plan of a request, made or found. */
export interface RunPlan {
  readonly plan: Plan;
  /** Things that were missing and now exist, such as a project. */
  readonly made: readonly string[];
  /** Files of the checkout that are not committed and so not part of the plan. */
  readonly uncommitted: number;
  /** Undefined for a plan that is part of none. */
  readonly session: SessionId | undefined;
}

export async function makeRunPlan(app: App, wish: Wish, call: Call): Promise<RunPlan> {
  const actor = await runActor(app, wish.actor);
  const request = await requestOf(app, wish, actor);
  const budget = await runBudget(app, wish.budget, await pricedActors(app, wish, [actor]));
  const { input, project, made } = await preparedRun(app, { ...wish, request }, [actor], call);
  const plan = await (
    await app.plans()
  ).useAction({
    ...input,
    actors: { execution: actor, strategy: wish.strategyActor },
    budget,
    session: wish.place ?? (await newPlace(wish)),
    alongside: wish.alongside,
  });
  const session = await (await app.store()).read((reader) => sessionOfPlan(reader, plan.id));
  call.tell({ type: "plan_made", plan: plan.id, project, made });
  return { plan, made, uncommitted: await warnUncommitted(wish, call), session: session?.id };
}

/** A tool actor does one thing, which its description says; any other is told. */
async function requestOf(app: App, wish: Wish, name: string): Promise<string> {
  const actor = await app.actorNamed(name);
  if (actor.type !== "tool") return requireRequest(wish);
  const taken = actorVariables(actor);
  const given = Object.keys(wish.arguments ?? {});
  const unknown = given.find((one) => !taken.includes(one));
  if (unknown !== undefined) throw unknownArgumentError(actor.name, unknown, taken);
  const missing = taken.filter((one) => one !== REQUEST && !given.includes(one));
  if (missing.length > 0) throw missingArgumentsError(actor.name, missing);
  const request = wish.request.trim();
  if (request !== "") return request;
  const values = Object.entries(wish.arguments ?? {}).map(([key, value]) => `${key}=${String(value)}`);
  return values.length === 0 ? actor.description : `${actor.description} (${values.join(", ")})`;
}

function unknownArgumentError(actor: string, name: string, taken: readonly string[]): UsageError {
  const { suggestion } = suggested(name, taken);
  const hint = suggestion === undefined ? "" : ` — did you mean "${suggestion}"?`;
  const known = taken.length === 0 ? "it takes none" : `it takes ${taken.join(", ")}`;
  return new UsageError(`The actor ${actor} has no argument "${name}" (${known})${hint}`, {
    kept: "Nothing was written.",
    next: [nextStep("actor.show", { actor })],
    detail: suggestion === undefined ? {} : { suggestion },
  });
}

function missingArgumentsError(actor: string, missing: readonly string[]): UsageError {
  const values = Object.fromEntries(missing.map((name) => [name, `<${name}>`]));
  const first = missing[0] ?? "";
  const text = `The actor ${actor} needs ${missing.join(", ")} (in a file, {{${first}}} is the text {${first}} itself).`;
  return new UsageError(text, {
    kept: "Nothing was written.",
    next: [nextStep("run", { actor, arguments: values })],
  });
}

export function requireRequest(wish: Pick<Wish, "request">): string {
  const request = wish.request.trim();
  if (request !== "") return request;
  throw new UsageError("Say what you want done.", {
    kept: "Nothing was written.",
    next: [nextStep("run", { request: "make the health endpoint answer 200 when the database is down" })],
  });
}

/** All that may ask models for the wish. */
export async function pricedActors(app: App, wish: Wish, actors: readonly string[]): Promise<readonly string[]> {
  const strategy = wish.strategyActor ?? (await defaultActors(app)).strategy;
  const all = [...actors, ...(wish.stepActors ?? [])];
  return [...new Set(strategy === undefined ? all : [...all, strategy])];
}

/** Everything of a plan but its actors and its budget; what is missing is made. */
export async function preparedRun(
  app: App,
  wish: Wish,
  actors: readonly string[],
  call: Call,
): Promise<{ readonly input: UseActionInput; readonly project: string; readonly made: readonly string[] }> {
  const images = await givenImages(app, wish, [...actors, wish.strategyActor], call.signal);
  const services = { plans: await app.plans(), projects: await app.projects(), resources: await app.resources() };
  const { project, action, made } = await setUpRun(services, {
    directory: wish.directory,
    project: wish.project,
    arguments: Object.keys(wish.arguments ?? {}).filter((name) => name !== REQUEST),
    isMeant: (directory) => isMeant(app, directory, call),
  });
  const input = {
    action,
    projects: [project],
    arguments: { ...wish.arguments, [REQUEST]: wish.request },
    automationProfile: wish.automationProfile,
    configuredProfile: await configuredProfile(app, [project]),
    stepActors: wish.stepActors,
    defaultActors: await defaultActors(app),
    providers: await app.providers(),
    effort: wish.effort,
    images,
  };
  return { input, project, made };
}

/** Where no one can be asked, the caller says so beforehand. */
async function isMeant(app: App, directory: string, call: Call): Promise<boolean> {
  // A copy of it would contain itself.
  const holdsData = !relative(directory, app.paths.dataDir).startsWith("..");
  if (holdsData || call.answers === "none") return false;
  return confirmed(call, `${directory} is not in a git repository. Work on this directory, in a copy of it?`);
}

/** Says how many files of the checkout are not part of the plan; that number. */
export async function warnUncommitted(wish: Wish, call: Call): Promise<number> {
  const clean = (wish.project !== undefined && wish.place === undefined) || wish.includeDirty;
  const uncommitted = clean ? 0 : await uncommittedFiles(wish.directory);
  if (uncommitted > 0) {
    const files = uncommitted === 1 ? "1 uncommitted file is" : `${uncommitted} uncommitted files are`;
    const text = `${files} not part of this plan. Use --include-dirty to start from ${uncommitted === 1 ? "it" : "them"}.`;
    call.tell({ type: "notice", level: "warning", text });
  }
  return uncommitted;
}

async function newPlace({ directory, newSession: id }: Wish): Promise<SessionPlace> {
  if (id !== undefined && !isId(id)) throw new UsageError(`"${id}" cannot be the id of a session.`);
  return { kind: "new", directory: await sessionDirectory(directory), id: id as SessionId | undefined };
}
