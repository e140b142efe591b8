import type { Route } from "../../domain/actor/actor.ts";

/**
 * Which nodes come before which. An edge that leads back to a node on whose way it lies makes a loop; without those
 * edges a graph has an order, and a node that comes before another on any path is run before it.
 */
export class GraphOrder {
  readonly #forward: ReadonlyMap<string, readonly string[]>;
  readonly #below = new Map<string, ReadonlySet<string>>();

  constructor(route: Route) {
    this.#forward = forwardEdges(route.entry, successorsOf(route));
  }

  /** Whether a way leads from one node to the other without going back. */
  isBefore(one: string, other: string): boolean {
    return one !== other && this.#allBelow(one).has(other);
  }

  /** Worked out when it is first asked for: only nodes that run side by side are ever compared. */
  #allBelow(node: string): ReadonlySet<string> {
    const known = this.#below.get(node);
    if (known !== undefined) return known;
    const found = new Set<string>();
    const open = [node];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const to of this.#forward.get(next) ?? []) {
        if (found.has(to)) continue;
        found.add(to);
        open.push(to);
      }
    }
    this.#below.set(node, found);
    return found;
  }
}

/** Where each node may lead to, by its edges and its branches, in the order of the file. */
function successorsOf(route: Route): ReadonlyMap<string, readonly string[]> {
  const successors = new Map<string, string[]>(route.nodes.map(({ id }) => [id, []]));
  for (const { from, to } of route.edges) successors.get(from)?.push(to);
  for (const node of route.nodes) {
    if (node.type === "conditional") successors.get(node.id)?.push(...node.branches.map(({ to }) => to));
  }
  return successors;
}

/** Goes down every way from the entry once; an edge to a node that is on the way itself leads back. */
function forwardEdges(
  entry: string,
  successors: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, readonly string[]> {
  const forward = new Map<string, string[]>();
  const onTheWay = new Set<string>();
  // Not by recursion: a chain of thousands of nodes must not end in a full stack.
  const way: { readonly node: string; next: number }[] = [];
  const enter = (node: string): void => {
    forward.set(node, []);
    onTheWay.add(node);
    way.push({ node, next: 0 });
  };
  enter(entry);
  for (let here = way.at(-1); here !== undefined; here = way.at(-1)) {
    const to = successors.get(here.node)?.[here.next];
    here.next += 1;
    if (to === undefined) {
      onTheWay.delete(here.node);
      way.pop();
    } else if (!onTheWay.has(to)) {
      forward.get(here.node)?.push(to);
      if (!forward.has(to)) enter(to);
    }
  }
  return forward;
}
