import * as z from "zod";
import { GRAPH_FUNCTIONS, REDUCERS, type GraphEdge, type GraphNode, type Route } from "./actor.ts";
import { parseActorName } from "../names/actor-name.ts";
import { parseExpression } from "../values/expression.ts";
import { parseFunctionCall } from "./graph-function.ts";
import { jsonForm, typedForm, type FormRules } from "../definition/json-form.ts";
import {
  find,
  isObject,
  json,
  jsonObject,
  list,
  map,
  maybe,
  number,
  parsedBy,
  part,
  reading,
  sayAll,
  spelled,
  word,
} from "../definition/spelling.ts";
import type { Form, Path, Say } from "../definition/spelling.ts";
import type { ValidationIssue } from "../errors/errors.ts";
import type { JsonObject } from "../values/json.ts";
import { routeIssues } from "./route-checks.ts";
import { filled, line, text } from "../definition/checked-schema.ts";
import { shown } from "../text/text.ts";
import { unknownTool } from "../definition/unknown-tool.ts";
import { TOOL_NAMES, toolRef, type ToolRef } from "../names/tool-names.ts";

/** The graph of a graph actor, in the spellings of today and of older files, checked as a whole. */
const NODE_TYPES = ["llm", "tool", "conditional", "subgraph", "function", "validation"] as const;
const NODE_FORM = {
  older: {
    description: ["name"],
    actorRef: ["actor_path", "actor", "agent"],
    params: ["parameters"],
    branches: ["conditions"],
  },
  block: "config",
  firstWins: ["description"],
} satisfies Form;

const NODE_ID = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;
const STATE_KEY = /^[A-Za-z_][\w-]{0,99}$/;
const MOST_NODES = 500;
const MOST_EDGES = 5_000;
/** Every tool costs tokens in each call. */
const MOST_TOOLS = 200;
const VALUE_LIMITS = { depth: 16, bytes: 64 * 1024 };
/** A node's question to its model when its author wrote none: the question of the whole graph. */
const DEFAULT_PROMPT = "{goal}";

/** A tool by its name. Other values that a file may hold here are not built yet. */
const toolName = reading<ToolRef>(
  (value, say) => {
    if (typeof value !== "string")
      return say("must be the name of a tool; tools defined in place are not supported yet");
    const { message, ...suggestion } = unknownTool(value);
    return toolRef(value) ?? say(message, suggestion);
  },
  () => ({ anyOf: [{ enum: [...TOOL_NAMES] }, { type: "string", pattern: "[/_-]" }] }),
);
export const toolNames = list(toolName, MOST_TOOLS);

const actorRef = parsedBy((name) => parseActorName(name));
/** Kept as it was written, once it is known that it can be read. */
const check = parsedBy((written) => {
  parseExpression(written);
  return written;
});
const object = jsonObject(VALUE_LIMITS).default({});

function keyProblem(key: string): string | undefined {
  return STATE_KEY.test(key)
    ? undefined
    : `${shown(key)} must be a letter or "_", then up to 99 letters, digits, "_" or "-"`;
}

/** A text of a form; the problem tells what is wrong with it. */
function formed(problemOf: (text: string) => string | undefined) {
  return filled.check((context) => {
    const message = problemOf(context.value);
    if (message !== undefined) context.issues.push({ code: "custom", message, input: context.value });
  });
}

const nodeId = formed((id) =>
  NODE_ID.test(id) ? undefined : `${shown(id)} must be a letter, then up to 99 letters, digits, "_" or "-"`,
);

function common<T extends GraphNode["type"]>(type: T) {
  const outputKey = maybe(formed(keyProblem));
  return { id: nodeId, type: z.unknown().transform(() => type), description: line.default(""), outputKey };
}

const branch = spelled({ check: maybe(check), to: filled }, { older: { to: ["goto", "target"] } });

/** The fields of each type of node. */
const NODES = {
  llm: spelled(
    {
      ...common("llm"),
      actorRef: maybe(actorRef),
      prompt: filled.default(DEFAULT_PROMPT),
      systemPrompt: maybe(text),
      tools: toolNames.default([]),
    },
    NODE_FORM,
  ),
  tool: spelled({ ...common("tool"), tool: toolName, params: object }, NODE_FORM),
  conditional: spelled({ ...common("conditional"), branches: list(branch, MOST_NODES).default([]) }, NODE_FORM),
  subgraph: spelled(
    { ...common("subgraph"), actorRef, input: map(filled, MOST_NODES, keyProblem).default({}) },
    NODE_FORM,
  ),
  function: spelled(
    { ...common("function"), function: word(GRAPH_FUNCTIONS), input: object },
    NODE_FORM,
    (call, say) => {
      const issues: ValidationIssue[] = [];
      parseFunctionCall(call, "input", issues);
      sayAll(issues, say);
      return call;
    },
  ),
  validation: spelled({ ...common("validation"), tool: toolName, params: object, check }, NODE_FORM),
};

const OLDER_TYPES = { agent: "llm", router: "conditional" } as const;
const nodeType = spelled({ type: word(NODE_TYPES, OLDER_TYPES) }, { block: NODE_FORM.block, open: true });

const anyNode = reading<GraphNode>((value, say) => {
  // The fields of a node cannot be checked when its kind is not known.
  const kind = part(nodeType, value, say);
  return kind === undefined ? undefined : part<GraphNode>(NODES[kind.type], value, say);
}, nodeForm);

/** In a map of nodes, the key is the id. */
function nodeForm(rules: FormRules): JsonObject {
  const cases = NODE_TYPES.map((type) => ({
    words: [type, ...Object.entries(OLDER_TYPES).flatMap(([older, now]) => (now === type ? [older] : []))],
    form: jsonForm(NODES[type], rules),
  }));
  return typedForm(cases, NODE_FORM.block);
}

interface PlacedNode {
  readonly node: GraphNode;
  readonly path: string;
}

/** A list of nodes with their ids, or a map of them by their ids. */
const nodes = reading<PlacedNode[]>(
  (value, say) => {
    const listed = Array.isArray(value);
    const given = part<object>(listed ? list(z.unknown(), MOST_NODES) : map(z.unknown(), MOST_NODES), value, say);
    if (given === undefined) return undefined;
    const entries = Object.entries(given);
    if (entries.length === 0) say("must have at least one node");
    const seen = new Set<string>();
    return entries.flatMap(([key, one]) => {
      const written = listed || !isObject(one) || find(one, "id", NODE_FORM) !== undefined;
      const place = (path: Path): Path => (path[0] === "id" && !written ? [key] : [key, ...path]);
      const made = part(anyNode, written ? one : { ...one, id: key }, say, place);
      if (made === undefined) return [];
      if (!listed && made.id !== key) {
        const message = `is ${shown(made.id)}, but the node stands under ${shown(key)}`;
        say(message, { path: [key, ...(find(one, "id", NODE_FORM)?.path ?? [])] });
      }
      if (seen.has(made.id)) say(`"${made.id}" is the id of two nodes`, { path: [key] });
      seen.add(made.id);
      return [{ node: made, path: `nodes.${key}` }];
    });
  },
  () => ({
    anyOf: [
      { type: "array", items: jsonForm(anyNode), minItems: 1, maxItems: MOST_NODES },
      { type: "object", additionalProperties: jsonForm(anyNode, { optional: ["id"] }), minProperties: 1 },
    ],
  }),
);

/** `{context_value: status, equals: ok}` and `{type: context_value, key: status, value: ok}` say the same. */
const condition = spelled(
  { type: word(["context_value"]).optional(), key: filled, equals: json(VALUE_LIMITS) },
  { older: { key: ["context_value"], equals: ["value"] } },
  ({ key, equals }) => ({ key, equals }),
);

const edge = spelled(
  { from: filled, to: filled, when: maybe(condition) },
  { older: { from: ["source"], to: ["target"], when: ["condition"] } },
);

const exits = reading<readonly string[]>(
  (value, say) => {
    // One exit may stand by itself.
    if (typeof value === "string") return [value];
    const named = part(list(filled, MOST_NODES), value, say);
    return named?.length === 0 ? say("must name at least one node") : named;
  },
  () => ({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" }, minItems: 1 }] }),
);

const limits = spelled({
  maxVisits: number(1, 10_000, "whole").default(25),
  maxRounds: number(1, 100_000, "whole").default(200),
});

/** The keys of a graph. Those of the older form say that they are one. */
export const ROUTE_SHAPE = {
  type: word(["graph"]).optional(),
  nodes,
  edges: list(edge, MOST_EDGES).default([]),
  entry: filled,
  exits: maybe(exits),
  state: map(word(REDUCERS), MOST_NODES, keyProblem).default({}),
  limits: limits.prefault({}),
};
export const ROUTE_SPELLINGS = {
  entry: ["entrypoint", "entry_node"],
  exits: ["exit", "exitpoints", "exit_nodes"],
};

/** The graph that these values describe, checked as a whole. */
export function wholeRoute(values: z.output<z.ZodObject<typeof ROUTE_SHAPE>>, say: Say): Route {
  const { edges, entry, state } = values;
  const route: Route = {
    nodes: values.nodes.map(({ node: one }) => one),
    edges,
    entry,
    exits: values.exits ?? ends(values.nodes, edges),
    state,
    limits: values.limits,
  };
  const paths = new Map(values.nodes.map(({ node: { id }, path }) => [id, path]));
  sayAll(routeIssues(route, { at: (key) => key, ofNode: (id) => paths.get(id) ?? "nodes" }), say);
  return route;
}

export const route = spelled(ROUTE_SHAPE, { older: ROUTE_SPELLINGS }, wholeRoute);

/** Where the author named no exits, the graph ends at the nodes that lead nowhere. */
function ends(nodes: readonly PlacedNode[], edges: readonly GraphEdge[]): string[] {
  const leading = new Set(edges.map(({ from }) => from));
  return nodes.flatMap(({ node }) => {
    const goesOn = leading.has(node.id) || (node.type === "conditional" && node.branches.length > 0);
    return goesOn ? [] : [node.id];
  });
}
