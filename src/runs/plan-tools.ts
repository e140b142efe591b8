/**
 * The tools of a plan's attempt. Those that are not built in are asked for once, and recorded under the first lease
 * that uses them: a plan that continues in another process offers its model the same tools in the same words.
 */
import { actorNamed } from "../catalog/stored-actor.ts";
import { actorReferences } from "../domain/actor/actor-references.ts";
import type { ActorDefinition, GraphNode } from "../domain/actor/actor.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { isMcpServerName } from "../domain/names/mcp-tool-name.ts";
import { isAddedToolName, SKILL_TOOL, type AddedToolName, type ToolRef } from "../domain/names/tool-names.ts";
import { nearest } from "../domain/text/suggest.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { AddedToolFacts } from "../domain/tool/added-tool.ts";
import type { ToolSource } from "../execution/tools/tool-source.ts";
import { ONLY_BUILT_IN, ToolSet } from "../execution/tools/tool-set.ts";
import { isAdded } from "../execution/tools/tool.ts";
import { recordedTools, recordTools } from "../ledger/recorded-tools.ts";
import type { Lease } from "../ledger/leases.ts";
import type { Store } from "../store/port.ts";

export interface PlanTools {
  /** As it counts from now on. */
  readonly set: ToolSet;
  /** Records the set, unless the attempt has one, which counts then. */
  fix(lease: Lease): Promise<void>;
}

/** `users` are the plan's actors, or the names of the tools that its decided steps call. */
export async function planTools(
  { store, sources }: { readonly store: Store; readonly sources: readonly ToolSource[] },
  plan: Plan,
  users: readonly ActorDefinition[] | readonly string[],
): Promise<PlanTools> {
  const { names, skills } = await namedBy(store, users);
  if (names?.length === 0 || (names === undefined && sources.length === 0))
    return { set: ONLY_BUILT_IN, fix: () => Promise.resolve() };
  const recorded = await store.read((reader) => recordedTools(reader, plan));
  const facts = recorded ?? (await gathered(sources, { plan, names }));
  let set = bound(facts, sources);
  await requireThere(names ?? [], set, () => gathered(sources, { plan, names: undefined }));
  requireSkills(skills, set);
  return {
    get set() {
      return set;
    },
    fix: async (lease) => {
      if (recorded !== undefined) return;
      // Another process may have recorded a set since this one asked.
      const counts = await recordTools(lease, facts);
      if (JSON.stringify(counts) !== JSON.stringify(facts)) set = bound(counts, sources);
    },
  };
}

function bound(facts: readonly AddedToolFacts[], sources: readonly ToolSource[]): ToolSet {
  return new ToolSet(facts.flatMap((one) => sources.find(({ source }) => source === one.source)?.bound(one) ?? []));
}

async function gathered(
  sources: readonly ToolSource[],
  wanted: Parameters<ToolSource["offered"]>[0],
): Promise<AddedToolFacts[]> {
  const found: AddedToolFacts[] = [];
  for (const source of sources) found.push(...(await source.offered(wanted)));
  return found;
}

async function requireThere(
  names: readonly AddedToolName[],
  set: ToolSet,
  everything: () => Promise<readonly AddedToolFacts[]>,
): Promise<void> {
  // All tools of an MCP server: as many as it has. Without skills, the tool that reads them is not needed.
  const missing = names.filter((name) => set.get(name) === undefined && !isMcpServerName(name) && name !== SKILL_TOOL);
  if (missing.length === 0) return;
  const known = (await everything()).map(({ name }) => name);
  const issues = missing.map((name): ValidationIssue => {
    const suggestion = nearest(name, known);
    const message = `there is no tool "${name}"`;
    return { path: name, message, ...(suggestion === undefined ? {} : { suggestion }) };
  });
  const all = issues.map(({ message, suggestion }) =>
    suggestion === undefined ? message : `${message} (did you mean "${suggestion}"?)`,
  );
  throw new ValidationError(`The plan's actors name tools that are not there: ${all.join("; ")}.`, issues, {
    kept: "Nothing was run, and the plan stays as it is.",
  });
}

function requireSkills(wanted: readonly string[], set: ToolSet): void {
  const tool = set.get(SKILL_TOOL);
  const known = tool !== undefined && isAdded(tool) ? (tool.skills?.names ?? []) : [];
  const missing = wanted.filter((name) => !known.includes(name));
  if (missing.length === 0) return;
  const issues = missing.map((name): ValidationIssue => {
    const suggestion = nearest(name, known);
    const message = `there is no skill "${name}"`;
    return { path: "skills", message, ...(suggestion === undefined ? {} : { suggestion }) };
  });
  throw new ValidationError(`The plan's actors name skills that are not there: ${listIssues(issues)}.`, issues, {
    kept: "Nothing was run, and the plan stays as it is.",
    next: [nextStep("skill.list")],
  });
}

/** The added tools that the actors name, each once; undefined when one of them takes everything there is. */
async function namedBy(
  store: Store,
  users: readonly (ActorDefinition | string)[],
): Promise<{ readonly names: readonly AddedToolName[] | undefined; readonly skills: readonly string[] }> {
  const names = new Set(users.flatMap((user) => (typeof user === "string" && isAddedToolName(user) ? [user] : [])));
  const skills = new Set<string>();
  let everything = false;
  const seen = new Set<string>();
  const waiting = users.flatMap((user) => (typeof user === "string" ? [] : [user]));
  for (let actor = waiting.shift(); actor !== undefined; actor = waiting.shift()) {
    if (seen.has(actor.name)) continue;
    seen.add(actor.name);
    if (actor.type === "llm" && actor.tools === undefined) everything = true;
    for (const skill of skillsNamed(actor)) skills.add(skill);
    for (const name of toolsNamed(actor)) if (isAddedToolName(name)) names.add(name);
    for (const reference of actorReferences(actor)) {
      // A node that asks another actor's model has the tools that the node names.
      if (reference.type !== "graph") continue;
      waiting.push(await store.read((reader) => actorNamed(reader, reference.actor)));
    }
  }
  if (skills.size > 0) names.add(SKILL_TOOL);
  return { names: everything ? undefined : [...names], skills: [...skills] };
}

function skillsNamed(actor: ActorDefinition): readonly string[] {
  return actor.type === "tool" ? [] : (actor.skills ?? []);
}

function toolsNamed(actor: ActorDefinition): readonly ToolRef[] {
  if (actor.type === "tool") return actor.steps.map(({ tool }) => tool);
  return actor.type === "graph" ? actor.route.nodes.flatMap(toolsOfNode) : (actor.tools ?? []);
}

function toolsOfNode(node: GraphNode): readonly ToolRef[] {
  if (node.type === "llm") return node.tools;
  return node.type === "tool" || node.type === "validation" ? [node.tool] : [];
}
