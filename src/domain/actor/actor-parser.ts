import * as z from "zod";
import { acpActor } from "./acp-actor-parser.ts";
import { keyIssues } from "./actor-keys.ts";
import { route, ROUTE_SHAPE, ROUTE_SPELLINGS, wholeRoute } from "./actor-route.ts";
import type { ActorDefinition, ActorType, GraphActorDefinition } from "./actor.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { MODEL_ACTOR_FORM, MODEL_ACTOR_SHAPE, modelActor, version } from "./model-actor.ts";
import { nameKey } from "../names/qualified-name.ts";
import { collect, filled, fitting, formIssues, suggested, text } from "../definition/checked-schema.ts";
import { jsonForm, withForm } from "../definition/json-form.ts";
import { find, isObject, map, spelled, word, yesOrNo } from "../definition/spelling.ts";
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
      readonly type: "llm" | "graph" | "acp";
      readonly description: string;
      readonly [key: string]: unknown;
    };

export const ACTOR_TYPES = ["llm", "graph", "tool", "acp"] as const satisfies readonly ActorType[];

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

const someMap = map(z.unknown(), MOST_ACTORS);

/** The block about the file itself. */
const about = spelled({
  version: version.optional(),
  logging: z.unknown(),
  templateEngine: z.literal("none", "is not supported: texts have ${VARIABLE} and nothing else").optional(),
  unsafe: yesOrNo.refine((unsafe) => !unsafe, { message: "belongs to the actor that is meant" }).optional(),
  defaultActor: filled.optional(),
});

export const severalActors = spelled(
  { name: text.optional(), routes: someMap.optional(), actors: someMap.optional(), cleveragents: about.optional() },
  {
    older: { actors: ["agents"] },
    refused: Object.fromEntries(UNSUPPORTED.map((key) => [key, "is not supported: only actors and graphs are"])),
  },
);

function parseSeveral(input: unknown, issues: ValidationIssue[]): (ActorDefinition | undefined)[] {
  read(severalActors, { value: input, path: "" }, issues);
  const routes = new Map(entriesOf(input, "routes"));
  const actors = entriesOf(input, "actors");
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
  const wanted = fitting(filled, find(find(input, "cleveragents", {})?.value, "defaultActor", {})?.value);
  if (wanted !== undefined && !parsed.some(({ name }) => name === wanted)) {
    const names = parsed.map(({ name }) => name);
    const path = "cleveragents.default_actor";
    issues.push({ path, message: `there is no actor ${shown(wanted)} in this file`, ...suggested(wanted, names) });
  }
  const ordered = [...parsed.filter(({ name }) => name === wanted), ...parsed.filter(({ name }) => name !== wanted)];
  return ordered.map(({ actor }) => actor);
}

/** A value of the file and its place there. */
interface Found {
  readonly value: unknown;
  readonly path: string;
}

function entriesOf(input: unknown, key: string): (readonly [string, Found])[] {
  const found = find(input, key, { older: { actors: ["agents"] } });
  const given = Object.entries(fitting(someMap, found?.value) ?? {});
  return given.map(([name, value]) => [name, { value, path: joined(found?.path.join(".") ?? key, name) }]);
}

/** The value that a schema makes of this, or undefined with every problem in `issues`. */
function read<T>(schema: z.ZodType<T>, { value, path }: Found, issues: ValidationIssue[]): T | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const found = formIssues(parsed.error, { own: [], list: "", items: [] });
  issues.push(...found.map((issue) => ({ ...issue, path: joined(path, issue.path) })));
  return undefined;
}

function joined(path: string, rest: string): string {
  return path === "" || rest === "" ? path + rest : `${path}.${rest}`;
}

/** The parts of the file that an actor of the older form is read from besides its own lines. */
interface Surroundings {
  readonly name: string;
  readonly routes: ReadonlyMap<string, Found>;
  /** The routes that an actor claimed. */
  readonly used: Set<string>;
}

export const ACTOR_FORM = { ...MODEL_ACTOR_FORM, block: "config" };
const actorType = spelled({ type: word(ACTOR_TYPES) }, { block: ACTOR_FORM.block, open: true });
export const llmActor = spelled(
  MODEL_ACTOR_SHAPE,
  { ...ACTOR_FORM, refused: { ...MODEL_ACTOR_FORM.refused, route: "is for actors of type graph" } },
  modelActor,
);
/** A model that may use tools is asked by a node, which says which ones. */
const GRAPH_REFUSED = { ...MODEL_ACTOR_FORM.refused, tools: "belongs to the nodes of a graph" };
const { tools: _, ...GRAPH_ACTOR_SHAPE } = MODEL_ACTOR_SHAPE;
export const graphActor = spelled(
  { ...GRAPH_ACTOR_SHAPE, route: withForm(z.unknown(), () => jsonForm(route)) },
  { ...ACTOR_FORM, refused: GRAPH_REFUSED },
  (values, say) => modelActor({ ...values, tools: undefined }, say),
);
/** A route of the older form that is an actor by itself: it has a graph's keys and, if it likes, an actor's. */
export const routeActor = spelled(
  { ...GRAPH_ACTOR_SHAPE, ...ROUTE_SHAPE },
  { ...MODEL_ACTOR_FORM, older: { ...MODEL_ACTOR_FORM.older, ...ROUTE_SPELLINGS }, refused: GRAPH_REFUSED },
  (values, say): GraphActorDefinition => ({
    ...modelActor({ ...values, tools: undefined }, say),
    type: "graph",
    route: wholeRoute(values, say),
  }),
);

function parseOne(found: Found, issues: ValidationIssue[], around?: Surroundings): ActorDefinition | undefined {
  const type = read(actorType, found, issues)?.type;
  // Of an actor of no known type nothing else can be judged.
  if (type === undefined) return undefined;
  if (type === "tool") return parseTool(found, issues, around?.name);
  if (type === "acp") return readNamed(acpActor, found, issues, around?.name);
  const actor = readNamed(type === "llm" ? llmActor : graphActor, found, issues, around?.name);
  if (type === "llm") return actor;
  const graph = routeOf(found, issues, around);
  const parsed = graph === undefined ? undefined : read(route, graph, issues);
  return actor === undefined || parsed === undefined ? undefined : { ...actor, type, route: parsed };
}

/** An actor that stands under its name in an older file need not repeat it; there, a description may be missing. */
function readNamed<T>(
  schema: z.ZodType<T>,
  found: Found,
  issues: ValidationIssue[],
  name: string | undefined,
): T | undefined {
  const { value, path } = found;
  if (name === undefined || !isObject(value)) return read(schema, found, issues);
  const missing = ["name", "description"].filter((key) => find(value, key, ACTOR_FORM) === undefined);
  const own: ValidationIssue[] = [];
  const named = { ...value, ...Object.fromEntries(missing.map((key) => [key, name])) };
  const actor = read(schema, { value: named, path: "" }, own);
  issues.push(
    ...own.map((issue) => ({ ...issue, path: joined(path, missing.includes(issue.path) ? "" : issue.path) })),
  );
  return actor;
}

/** A graph actor of the older form may name one of the file's routes. */
function routeOf({ value, path }: Found, issues: ValidationIssue[], around?: Surroundings): Found | undefined {
  const found = find(value, "route", ACTOR_FORM);
  const own = { value: found?.value, path: joined(path, found?.path.join(".") ?? "route") };
  if (typeof own.value !== "string" || around === undefined) return own;
  around.used.add(own.value);
  const named = around.routes.get(own.value);
  if (named !== undefined) return named;
  const message = `there is no route ${shown(own.value)}`;
  issues.push({ path: own.path, message, ...suggested(own.value, around.routes.keys()) });
  return undefined;
}

const routeType = spelled({ type: ROUTE_SHAPE.type }, { open: true });

function parseRouteActor(name: string, found: Found, issues: ValidationIssue[]): ActorDefinition | undefined {
  const graph = read(routeType, found, issues);
  return graph === undefined ? undefined : readNamed(routeActor, found, issues, name);
}

const toolVersion = spelled({ version: version.optional() }, { block: ACTOR_FORM.block, open: true });

function parseTool(found: Found, issues: ValidationIssue[], name: string | undefined): ActorDefinition | undefined {
  read(toolVersion, found, issues);
  const { version: _, ...rest } = found.value as Record<string, unknown>;
  const own: ValidationIssue[] = [];
  const actor = collect(() => parseToolActor(name === undefined ? rest : { name, description: name, ...rest }), own);
  issues.push(...own.map((issue) => ({ ...issue, path: joined(found.path, issue.path) })));
  return actor;
}
