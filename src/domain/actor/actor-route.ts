import {
  GRAPH_FUNCTIONS,
  REDUCERS,
  type Branch,
  type GraphEdge,
  type GraphNode,
  type Reducer,
  type Route,
} from "./actor.ts";
import { parseActorName } from "../names/actor-name.ts";
import { parseExpression } from "../values/expression.ts";
import { parseFunctionCall } from "./graph-function.ts";
import { Fields, type Found, type Spellings } from "../definition/fields.ts";
import type { JsonObject } from "../values/json.ts";
import type { QualifiedName } from "../names/qualified-name.ts";
import { routeIssues } from "./route-checks.ts";
import { collect, suggested } from "../definition/schema.ts";
import { lineProblem, shown } from "../text/text.ts";
import { TOOL_NAMES, toolWord, type ToolName } from "../names/tool-names.ts";

/** The graph of a graph actor, in the spellings of today and of older files, checked as a whole. */
export const ROUTE_SPELLINGS: Spellings = {
  entry: ["entrypoint", "entry_node"],
  exits: ["exit", "exitpoints", "exit_nodes"],
};
const NODE_SPELLINGS: Spellings = {
  description: ["name"],
  actor_ref: ["actor_path", "actor", "agent"],
  params: ["parameters"],
  conditions: ["branches"],
};
const EDGE_SPELLINGS: Spellings = { from: ["source"], to: ["target"], condition: ["when"] };
const CONDITION_SPELLINGS: Spellings = { key: ["context_value"], equals: ["value"] };
const BRANCH_SPELLINGS: Spellings = { to: ["goto", "target"] };

const NODE_TYPES = ["llm", "tool", "conditional", "subgraph", "function", "validation"] as const;
const OLDER_TYPES = { agent: "llm", router: "conditional" } as const;

const NODE_ID = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;
const STATE_KEY = /^[A-Za-z_][\w-]{0,99}$/;
const MOST_NODES = 500;
const MOST_EDGES = 5_000;
const VALUE_LIMITS = { depth: 16, bytes: 64 * 1024 };
const DEFAULT_LIMITS = { maxVisits: 25, maxRounds: 200 } as const;
/** A node's question to its model when its author wrote none: the question of the whole graph. */
const DEFAULT_PROMPT = "{goal}";

/** The route in these fields, or undefined with every problem in their issues. */
export function parseRoute(fields: Fields): Route | undefined {
  const { issues } = fields;
  const known = issues.length;
  const nodes = parseNodes(fields);
  const edges = fields.list(fields.find("edges"), MOST_EDGES).flatMap((found) => parseEdge(fields, found) ?? []);
  const entry = fields.filled(fields.require("entry"));
  const exits = parseExits(fields);
  const state = parseState(fields);
  const limits = parseLimits(fields);
  // A graph with holes in it would be blamed for what is missing.
  if (issues.length > known || entry === undefined) return undefined;
  const route: Route = {
    nodes: nodes.map(({ node }) => node),
    edges,
    entry,
    exits: exits ?? ends(nodes, edges),
    state,
    limits,
  };
  const paths = new Map(nodes.map(({ node, path }) => [node.id, path]));
  issues.push(
    ...routeIssues(route, { at: (key) => fields.at(key), ofNode: (id) => paths.get(id) ?? fields.at("nodes") }),
  );
  return route;
}

interface PlacedNode {
  readonly node: GraphNode;
  readonly path: string;
}

/** A list of nodes with their ids, or a map of them by their ids. */
function parseNodes(fields: Fields): PlacedNode[] {
  const found = fields.require("nodes");
  if (found === undefined) return [];
  const listed = Array.isArray(found.value);
  const given: readonly (readonly [string | undefined, Found])[] = listed
    ? fields.list(found, MOST_NODES).map((one) => [undefined, one] as const)
    : fields.map(found, MOST_NODES);
  if (given.length === 0) fields.issues.push({ path: found.path, message: "must have at least one node" });
  const seen = new Set<string>();
  return given.flatMap(([key, one]) => {
    const node = parseNode(fields, one, key);
    if (node === undefined) return [];
    if (seen.has(node.id)) fields.issues.push({ path: one.path, message: `"${node.id}" is the id of two nodes` });
    seen.add(node.id);
    return [{ node, path: one.path }];
  });
}

function parseNode(route: Fields, found: Found, key: string | undefined): GraphNode | undefined {
  const { issues } = route;
  const fields = new Fields(found, issues, { spellings: NODE_SPELLINGS, block: "config" });
  const id = nodeId(fields, key);
  const type = fields.word(fields.require("type"), NODE_TYPES, OLDER_TYPES);
  const outputKey = fields.filled(fields.find("output_key"));
  if (outputKey !== undefined && !STATE_KEY.test(outputKey)) {
    issues.push({ path: fields.at("output_key"), message: `${shown(outputKey)} ${KEY_FORM}` });
  }
  const base = {
    id: id ?? "",
    description: fields.text(fields.find("description", { firstWins: true }), undefined, lineProblem) ?? "",
    outputKey,
  };
  const known = issues.length;
  const node = type === undefined ? undefined : { ...base, ...kindOf(fields, type) };
  // The fields of a node cannot be checked when its kind is not known.
  if (type !== undefined) fields.end();
  return id === undefined || issues.length > known ? undefined : node;
}

const KEY_FORM = 'must be a letter or "_", then up to 99 letters, digits, "_" or "-"';

function nodeId(fields: Fields, key: string | undefined): string | undefined {
  const found = key === undefined ? fields.require("id") : (fields.find("id") ?? { value: key, path: fields.path });
  const id = fields.filled(found);
  if (id === undefined || found === undefined) return undefined;
  if (key !== undefined && id !== key) {
    fields.issues.push({ path: found.path, message: `is ${shown(id)}, but the node stands under ${shown(key)}` });
    return undefined;
  }
  if (NODE_ID.test(id)) return id;
  const message = `${shown(id)} must be a letter, then up to 99 letters, digits, "_" or "-"`;
  fields.issues.push({ path: found.path, message });
  return undefined;
}

type Kind = GraphNode extends infer N
  ? N extends GraphNode
    ? Omit<N, "id" | "description" | "outputKey">
    : never
  : never;

/** The fields of each type of node besides the common ones. */
function kindOf(fields: Fields, type: GraphNode["type"]): Kind {
  switch (type) {
    case "llm":
      return {
        type,
        actorRef: actorRef(fields, fields.find("actor_ref")),
        prompt: fields.filled(fields.find("prompt")) ?? DEFAULT_PROMPT,
        systemPrompt: fields.text(fields.find("system_prompt")),
        tools: fields.list(fields.find("tools"), TOOL_NAMES.length).flatMap((one) => parseToolName(fields, one) ?? []),
      };
    case "tool":
      return { type, tool: requiredTool(fields), params: objectAt(fields, "params") };
    case "conditional":
      return {
        type,
        branches: fields.list(fields.find("conditions"), MOST_NODES).flatMap((one) => parseBranch(fields, one)),
      };
    case "subgraph":
      // The placeholder for a wrong value is never seen: the issues refuse the whole definition.
      return {
        type,
        actorRef: actorRef(fields, fields.require("actor_ref")) ?? ("" as QualifiedName),
        input: keyMap(fields),
      };
    case "function":
      return parseFunction(fields);
    case "validation":
      return {
        type,
        tool: requiredTool(fields),
        params: objectAt(fields, "params"),
        check: parseCheck(fields, fields.require("check")) ?? "",
      };
  }
}

function parseFunction(fields: Fields): Kind & { type: "function" } {
  const word = fields.word(fields.require("function"), GRAPH_FUNCTIONS);
  const found = fields.find("input");
  const input = fields.object(found, VALUE_LIMITS) ?? {};
  if (word !== undefined)
    parseFunctionCall({ function: word, input }, found?.path ?? fields.at("input"), fields.issues);
  return { type: "function", function: word ?? GRAPH_FUNCTIONS[0], input };
}

function actorRef(fields: Fields, found: Found | undefined): QualifiedName | undefined {
  const text = fields.filled(found);
  return text === undefined ? undefined : collect(() => parseActorName(text, found?.path), fields.issues);
}

function requiredTool(fields: Fields): ToolName {
  const found = fields.require("tool");
  return (found === undefined ? undefined : parseToolName(fields, found)) ?? TOOL_NAMES[0];
}

/** A tool by its name. Other values that a file may hold here are not built yet. */
export function parseToolName(fields: Fields, { value, path }: Found): ToolName | undefined {
  if (typeof value !== "string") {
    fields.issues.push({ path, message: "must be the name of a tool; tools defined in place are not supported yet" });
    return undefined;
  }
  const tool = TOOL_NAMES.find((name) => name === toolWord(value));
  if (tool !== undefined) return tool;
  fields.issues.push({ path, message: `there is no tool ${shown(value)}`, ...suggested(toolWord(value), TOOL_NAMES) });
  return undefined;
}

function objectAt(fields: Fields, key: string): JsonObject {
  return fields.object(fields.find(key), VALUE_LIMITS) ?? {};
}

/** Kept as it was written, once it is known that it can be read. */
function parseCheck(fields: Fields, found: Found | undefined): string | undefined {
  const check = fields.filled(found);
  if (check !== undefined) collect(() => parseExpression(check, found?.path), fields.issues);
  return check;
}

function parseBranch(node: Fields, found: Found): Branch[] {
  const fields = new Fields(found, node.issues, { spellings: BRANCH_SPELLINGS });
  const check = parseCheck(fields, fields.find("check"));
  const to = fields.filled(fields.require("to"));
  fields.end();
  return to === undefined ? [] : [{ check, to }];
}

function keyMap(fields: Fields): Readonly<Record<string, string>> {
  const given = fields.map(fields.find("input"), MOST_NODES);
  return Object.fromEntries(
    given.map(([key, found]) => {
      checkKey(fields, key, found.path);
      return [key, fields.filled(found) ?? ""];
    }),
  );
}

function checkKey(fields: Fields, key: string, path: string): void {
  if (!STATE_KEY.test(key)) fields.issues.push({ path, message: `${shown(key)} ${KEY_FORM}` });
}

function parseEdge(route: Fields, found: Found): GraphEdge | undefined {
  const fields = new Fields(found, route.issues, { spellings: EDGE_SPELLINGS });
  const from = fields.filled(fields.require("from"));
  const to = fields.filled(fields.require("to"));
  const condition = fields.find("condition");
  fields.end();
  const when = condition === undefined ? undefined : parseCondition(route, condition);
  return from === undefined || to === undefined ? undefined : { from, to, when };
}

/** `{context_value: status, equals: ok}` and `{type: context_value, key: status, value: ok}` say the same. */
function parseCondition(route: Fields, found: Found): GraphEdge["when"] {
  const fields = new Fields(found, route.issues, { spellings: CONDITION_SPELLINGS });
  fields.word(fields.find("type"), ["context_value"]);
  const key = fields.filled(fields.require("key"));
  const equals = fields.json(fields.require("equals"), VALUE_LIMITS);
  fields.end();
  return key === undefined || equals === undefined ? undefined : { key, equals };
}

/** One exit may stand by itself. */
function parseExits(fields: Fields): string[] | undefined {
  const found = fields.find("exits");
  if (found === undefined) return undefined;
  if (typeof found.value === "string") return [found.value];
  const exits = fields.list(found, MOST_NODES).flatMap((one) => fields.filled(one) ?? []);
  if (exits.length === 0) fields.issues.push({ path: found.path, message: "must name at least one node" });
  return exits;
}

/** Where the author named no exits, the graph ends at the nodes that lead nowhere. */
function ends(nodes: readonly PlacedNode[], edges: readonly GraphEdge[]): string[] {
  const leading = new Set(edges.map(({ from }) => from));
  return nodes.flatMap(({ node }) => {
    const goesOn = leading.has(node.id) || (node.type === "conditional" && node.branches.length > 0);
    return goesOn ? [] : [node.id];
  });
}

function parseState(fields: Fields): Readonly<Record<string, Reducer>> {
  const reducers: [string, Reducer][] = [];
  for (const [key, found] of fields.map(fields.find("state"), MOST_NODES)) {
    checkKey(fields, key, found.path);
    const reducer = fields.word(found, REDUCERS);
    if (reducer !== undefined) reducers.push([key, reducer]);
  }
  return Object.fromEntries(reducers);
}

function parseLimits(route: Fields): Route["limits"] {
  const found = route.find("limits");
  if (found === undefined) return DEFAULT_LIMITS;
  const fields = new Fields(found, route.issues);
  const maxVisits = fields.number(fields.find("max_visits"), { min: 1, max: 10_000, whole: true });
  const maxRounds = fields.number(fields.find("max_rounds"), { min: 1, max: 100_000, whole: true });
  fields.end();
  return { maxVisits: maxVisits ?? DEFAULT_LIMITS.maxVisits, maxRounds: maxRounds ?? DEFAULT_LIMITS.maxRounds };
}
