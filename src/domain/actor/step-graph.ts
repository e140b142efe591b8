/** The graph that steps form by what they need. Every function visits each step and each need once. */
export interface Node {
  readonly id: string;
  readonly needs: readonly string[];
}

/**
 * A step is in the wave after the last one it needs. Within a wave, steps are in program order, not in the order of the
 * needs, so that the same file always gives the same waves.
 */
export function waves(nodes: readonly Node[]): string[][] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const levels = new Map<string, number>();
  const levelOf = (node: Node): number => {
    const known = levels.get(node.id);
    if (known !== undefined) return known;
    // Reached again before it is known: the steps wait for each other.
    levels.set(node.id, Number.NaN);
    const level = node.needs.reduce((highest, need) => Math.max(highest, levelOf(required(byId, need)) + 1), 0);
    if (Number.isNaN(level)) throw new Error(`the step "${node.id}" waits for itself`);
    levels.set(node.id, level);
    return level;
  };
  const found: string[][] = [];
  for (const node of nodes) (found[levelOf(node)] ??= []).push(node.id);
  return found;
}

/**
 * Cycles as paths that end where they begin, each step in at most one of them: enough to mend the file, and never more
 * text than the file has steps, however many ways around there are.
 */
export function firstCycles(nodes: readonly Node[]): string[][] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const done = new Set<string>();
  const reported = new Set<string>();
  const path: string[] = [];
  const positions = new Map<string, number>();
  const cycles: string[][] = [];
  const visit = (node: Node): void => {
    positions.set(node.id, path.length);
    path.push(node.id);
    for (const need of node.needs) {
      if (done.has(need) || reported.has(need)) continue;
      const start = positions.get(need);
      if (start === undefined) {
        visit(required(byId, need));
        continue;
      }
      const cycle = path.slice(start);
      if (cycle.some((id) => reported.has(id))) continue;
      for (const id of cycle) reported.add(id);
      cycles.push([...cycle, need]);
    }
    path.pop();
    positions.delete(node.id);
    done.add(node.id);
  };
  for (const node of nodes) if (!done.has(node.id)) visit(node);
  return cycles;
}

function required(byId: ReadonlyMap<string, Node>, id: string): Node {
  const node = byId.get(id);
  if (node === undefined) throw new Error(`there is no step "${id}"`);
  return node;
}
