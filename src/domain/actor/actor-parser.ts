import { keyIssues } from "./actor-keys.ts";
import { parseRoute, ROUTE_SPELLINGS } from "./actor-route.ts";
import type { ActorDefinition, ActorType, Route } from "./actor.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { Fields, type Found } from "../definition/fields.ts";
import { checkVersion, MODEL_ACTOR_SPELLINGS, parseModelActor } from "./model-actor.ts";
import { nameKey } from "../names/qualified-name.ts";
import { collect, suggested } from "../definition/schema.ts";
import { shown } from "../text/text.ts";
import { parseToolActor, type ToolActorInput } from "./tool-actor.ts";

/**
 * Actor files as people write them, older ones included, become the one definition that everything else knows. An
 * undocumented key is refused, with its place in the file.
 */

/** The input of `addActor`: the same keys as the YAML file. */
export type ActorInput =
  | ToolActorInput
  | {
      readonly name: string;
      readonly type: "llm" | "graph";
      readonly description: string;
      readonly [key: string]: unknown;
    };

const ACTOR_TYPES = ["llm", "graph", "tool"] as const satisfies readonly ActorType[];

/** Parts of older files that have no meaning here: saying so is better than to leave them out. */
const UNSUPPORTED = ["merges", "splits", "templates", "instances", "global_context", "prompts", "pipelines"];

const MOST_ACTORS = 100;

/** One actor, whichever spelling its author uses. */
export function parseActor(input: unknown): ActorDefinition {
  const [actor, second] = parseActors(input);
  if (actor !== undefined && second === undefined) return actor;
  const message = "defines more than one actor";
  throw new ValidationError(`The input ${message}.`, [{ path: "actors", message }]);
}

/**
 * The actors of a file: one in the flat form, any number in the older form with `actors` and `routes`. Every problem is
 * in the one error. The one that the file calls its default is the first. `keys` are the values of configured keys,
 * which must not be in it.
 */
export function parseActors(input: unknown, keys: readonly string[] = []): ActorDefinition[] {
  const issues = keyIssues(input, keys);
  const refused = new Set(issues.map(({ path }) => path));
  const found: ValidationIssue[] = [];
  const actors = isFlat(input) ? [parseOne({ value: input, path: "" }, found)] : parseSeveral(input, found);
  // A misspelled key would be reported as unknown too; once is enough.
  issues.push(...found.filter(({ path }) => !refused.has(path)));
  if (issues.length > 0) throw new ValidationError(`The actor is not valid: ${listIssues(issues)}.`, issues);
  return actors.flatMap((actor) => actor ?? []);
}

/** The older form is the one without a type of its own. */
function isFlat(input: unknown): boolean {
  if (typeof input !== "object" || input === null) return true;
  return "type" in input || !["actors", "agents", "routes", "cleveragents"].some((key) => key in input);
}

function parseSeveral(input: unknown, issues: ValidationIssue[]): (ActorDefinition | undefined)[] {
  const fields = new Fields({ value: input, path: "" }, issues, { spellings: { actors: ["agents"] } });
  fields.text(fields.find("name"));
  for (const key of UNSUPPORTED) fields.refuse(key, "is not supported: only actors and graphs are");
  const routes = new Map(fields.map(fields.find("routes"), MOST_ACTORS));
  const actors = fields.map(fields.find("actors"), MOST_ACTORS);
  const about = fields.find("cleveragents");
  const wanted = about === undefined ? undefined : parseAbout(about, issues);
  fields.end();
  const used = new Set<string>();
  const parsed = actors.map(([name, found]) => ({
    name,
    found,
    actor: parseOne(found, issues, { name, routes, used }),
  }));
  // A graph that no actor claims is one by itself.
  for (const [name, found] of routes) {
    if (!used.has(name)) parsed.push({ name, found, actor: parseRouteActor(name, found, issues) });
  }
  if (parsed.length === 0) issues.push({ path: "actors", message: "must have at least one actor" });
  const taken = new Set<string>();
  for (const { actor, found } of parsed) {
    if (actor === undefined) continue;
    const key = nameKey(actor.name);
    if (taken.has(key)) issues.push({ path: found.path, message: `"${actor.name}" is the name of two actors` });
    taken.add(key);
  }
  if (wanted !== undefined && !parsed.some(({ name }) => name === wanted)) {
    const names = parsed.map(({ name }) => name);
    const path = "cleveragents.default_actor";
    issues.push({ path, message: `there is no actor ${shown(wanted)} in this file`, ...suggested(wanted, names) });
  }
  const ordered = [...parsed.filter(({ name }) => name === wanted), ...parsed.filter(({ name }) => name !== wanted)];
  return ordered.map(({ actor }) => actor);
}

/** The block about the file itself. */
function parseAbout(found: Found, issues: ValidationIssue[]): string | undefined {
  const fields = new Fields(found, issues);
  checkVersion(fields);
  fields.find("logging");
  const engine = fields.find("template_engine");
  if (engine !== undefined && engine.value !== "none") {
    issues.push({ path: engine.path, message: "is not supported: texts have ${VARIABLE} and nothing else" });
  }
  if (fields.boolean("unsafe") === true) {
    issues.push({ path: fields.at("unsafe"), message: "belongs to the actor that is meant" });
  }
  const wanted = fields.filled(fields.find("default_actor"));
  fields.end();
  return wanted;
}

/** The parts of the file that an actor of the older form is read from besides its own lines. */
interface Surroundings {
  readonly name: string;
  readonly routes: ReadonlyMap<string, Found>;
  /** The routes that an actor claimed. */
  readonly used: Set<string>;
}

function parseOne(found: Found, issues: ValidationIssue[], around?: Surroundings): ActorDefinition | undefined {
  const fields = new Fields(found, issues, { spellings: MODEL_ACTOR_SPELLINGS, block: "config" });
  const type = fields.word(fields.require("type"), ACTOR_TYPES);
  // Of an actor of no known type nothing else can be judged.
  if (type === undefined) return undefined;
  if (type === "tool") return parseTool(found, fields, issues, around?.name);
  const actor = parseModelActor(fields, around?.name);
  if (type === "llm") {
    fields.refuse("route", "is for actors of type graph");
    fields.end();
    return actor;
  }
  refuseTools(fields);
  const graph = routeOf(fields, around);
  fields.end();
  const route = graph === undefined ? undefined : parseWholeRoute(graph, issues);
  return actor === undefined || route === undefined ? undefined : { ...actor, type, route };
}

/** A model that may use tools is asked by a node, which says which ones. */
function refuseTools(fields: Fields): void {
  fields.refuse("tools", "belongs to the nodes of a graph");
}

function parseWholeRoute(found: Found, issues: ValidationIssue[]): Route | undefined {
  const fields = new Fields(found, issues, { spellings: ROUTE_SPELLINGS });
  // Routes of the older form say what kind they are.
  fields.word(fields.find("type"), ["graph"]);
  const route = parseRoute(fields);
  fields.end();
  return route;
}

/** A graph actor of the older form may name one of the file's routes. */
function routeOf(fields: Fields, around: Surroundings | undefined): Found | undefined {
  const found = fields.require("route");
  if (found === undefined || typeof found.value !== "string" || around === undefined) return found;
  const route = around.routes.get(found.value);
  around.used.add(found.value);
  if (route !== undefined) return route;
  const message = `there is no route ${shown(found.value)}`;
  fields.issues.push({ path: found.path, message, ...suggested(found.value, around.routes.keys()) });
  return undefined;
}

/** A route of the older form that is an actor by itself: it has a graph's keys and, if it likes, an actor's. */
function parseRouteActor(name: string, found: Found, issues: ValidationIssue[]): ActorDefinition | undefined {
  const fields = new Fields(found, issues, { spellings: { ...MODEL_ACTOR_SPELLINGS, ...ROUTE_SPELLINGS } });
  const type = fields.word(fields.find("type"), ["graph"]);
  if (type === undefined && fields.has("type")) return undefined;
  const actor = parseModelActor(fields, name);
  refuseTools(fields);
  const route = parseRoute(fields);
  fields.end();
  return actor === undefined || route === undefined ? undefined : { ...actor, type: "graph", route };
}

function parseTool(
  found: Found,
  fields: Fields,
  issues: ValidationIssue[],
  name: string | undefined,
): ActorDefinition | undefined {
  checkVersion(fields);
  const { version: _, ...rest } = found.value as Record<string, unknown>;
  const input = name === undefined ? rest : { name, description: name, ...rest };
  const own: ValidationIssue[] = [];
  const actor = collect(() => parseToolActor(input), own);
  const place = (path: string): string => (found.path === "" ? path : `${found.path}.${path}`);
  issues.push(...own.map((issue) => ({ ...issue, path: place(issue.path) })));
  return actor;
}
