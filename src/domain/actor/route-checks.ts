import type { GraphNode, Route } from "./actor.ts";
import type { ValidationIssue } from "../errors/errors.ts";
import { suggested } from "../definition/checked-schema.ts";
import { firstCycles } from "./step-graph.ts";
import { shown } from "../text/text.ts";

/** Where things of a route stand in its file. */
export interface RoutePlaces {
  at(key: string): string;
  ofNode(id: string): string;
}

/** One way from a node to another. */
interface Way {
  readonly from: string;
  readonly to: string;
  /** Taken in every state. */
  readonly always: boolean;
  readonly path: string;
}

/**
 * Checks of a graph before it runs: every name in it exists, every node can be reached and can end, and no loop runs
 * forever because no condition on it could end it.
 */
export function routeIssues(route: Route, places: RoutePlaces): ValidationIssue[] {
  const ids = new Set(route.nodes.map(({ id }) => id));
  const ways = allWays(route, places);
  const issues = [...missingNodes(route, ways, ids, places), ...branchIssues(route, ways, places)];
  // Whether it can be reached makes no sense where a way leads to nothing.
  if (issues.length > 0) return issues;
  const reached = reachable(route.entry, ways);
  for (const { id } of route.nodes) {
    if (!reached.has(id)) {
      const what = route.exits.includes(id) ? "the exit" : "the node";
      issues.push({ path: places.ofNode(id), message: `${what} "${id}" cannot be reached from "${route.entry}"` });
    }
  }
  if (route.exits.length === 0) {
    issues.push({ path: places.at("exits"), message: "every node leads on, so it must be said where the graph ends" });
  }
  return [...issues, ...endlessLoops(route, ways, places)];
}

function allWays(route: Route, places: RoutePlaces): Way[] {
  const edges = route.edges.map(({ from, to, when }, index) => ({
    from,
    to,
    always: when === undefined,
    path: `${places.at("edges")}.${index}`,
  }));
  const branches = route.nodes.flatMap((node) =>
    branchesOf(node).map(({ check, to }, index) => ({
      from: node.id,
      to,
      // One without a check behind others is taken only when they are not.
      always: check === undefined && index === 0,
      path: places.ofNode(node.id),
    })),
  );
  return [...edges, ...branches];
}

function branchesOf(node: GraphNode): Extract<GraphNode, { type: "conditional" }>["branches"] {
  return node.type === "conditional" ? node.branches : [];
}

function missingNodes(
  route: Route,
  ways: readonly Way[],
  ids: ReadonlySet<string>,
  places: RoutePlaces,
): ValidationIssue[] {
  const named = [
    { id: route.entry, path: places.at("entry") },
    ...route.exits.map((id) => ({ id, path: places.at("exits") })),
    ...ways.flatMap(({ from, to, path }) => [from, to].map((id) => ({ id, path }))),
  ];
  return named.flatMap(({ id, path }) =>
    ids.has(id) ? [] : [{ path, message: `there is no node ${shown(id)}`, ...suggested(id, ids) }],
  );
}

function branchIssues(route: Route, ways: readonly Way[], places: RoutePlaces): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  for (const node of route.nodes) {
    if (node.type !== "conditional") continue;
    const path = places.ofNode(node.id);
    const { branches } = node;
    if (!ways.some(({ from }) => from === node.id)) {
      issues.push({ path, message: `the node "${node.id}" needs conditions, or edges that lead on from it` });
    }
    const open = branches.findIndex(({ check }) => check === undefined);
    if (open !== -1 && open < branches.length - 1) {
      issues.push({
        path,
        message: `what follows condition ${open + 1} of "${node.id}" is never taken: it has no check`,
      });
    }
  }
  const seen = new Map<string, number>();
  for (const [index, edge] of route.edges.entries()) {
    const word = JSON.stringify(edge);
    const twin = seen.get(word);
    if (twin !== undefined)
      issues.push({ path: `${places.at("edges")}.${index}`, message: `is the same as edge ${twin + 1}` });
    seen.set(word, index);
  }
  return issues;
}

function reachable(entry: string, ways: readonly Way[]): ReadonlySet<string> {
  const next = Map.groupBy(ways, ({ from }) => from);
  const reached = new Set([entry]);
  // A set that grows while it is walked is walked to its end.
  for (const id of reached) for (const { to } of next.get(id) ?? []) reached.add(to);
  return reached;
}

/** A loop is fine when something on it is asked; one that is always taken would only end at a limit. */
function endlessLoops(route: Route, ways: readonly Way[], places: RoutePlaces): ValidationIssue[] {
  const always = Map.groupBy(
    ways.filter((way) => way.always),
    ({ from }) => from,
  );
  const nodes = route.nodes.map(({ id }) => ({ id, needs: (always.get(id) ?? []).map(({ to }) => to) }));
  return firstCycles(nodes).map((cycle) => ({
    path: places.ofNode(cycle[0] ?? ""),
    message: `${cycle.join(" → ")} is an endless loop: no edge on it has a condition`,
  }));
}
