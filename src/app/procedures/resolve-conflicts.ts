/** How each conflict of a plan is resolved: by a side, by a file, by hand; or by the plan's own actor. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentsError, PlanError, UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { shown } from "../../domain/text/text.ts";
import { mergedLines, type ShownConflict } from "../../apply/conflict-sides.ts";
import { moveResolved, recordChange, resolvingChange, stateOf, type Resolution } from "../../apply/resolution.ts";
import { findDecisions } from "../../ledger/decisions.ts";
import { canFollowUp } from "../../plans/follow-up.ts";
import { recordSourceOf } from "../../plans/transition.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { editorMerge, markerProblem, mergedByHand, modeOf, toolMerge, unmergedError } from "./merge-by-hand.ts";
import { guidePlan } from "./prompt-plan.ts";

export interface ResolveWish {
  readonly directory: string | undefined;
  readonly takeYours: readonly string[];
  readonly takePlan: readonly string[];
  /** Files that were merged elsewhere, by the paths that they are for. */
  readonly files: Readonly<Record<string, string>>;
  readonly edit: boolean;
  readonly tool: boolean;
}

export type Resolved = Resolution & { readonly how: "yours" | "plan" | "merged" };

type Chosen = { readonly how: "yours" | "plan" } | { readonly how: "merged"; readonly file: string };

/** In the order of the conflicts; every one is resolved, or this rejects with nothing changed. */
export async function resolved(
  app: App,
  conflicts: readonly ShownConflict[],
  wish: ResolveWish,
  call: Call,
): Promise<Resolved[]> {
  const chosen = chosenWays(conflicts, wish);
  const left = conflicts.filter((one) => !chosen.has(one));
  const directory = wish.directory ?? process.cwd();
  if (left.length > 0 && !wish.edit && !wish.tool && call.answers !== "person") throw openConflictsError(left);
  const byHand = left.length === 0 ? undefined : await handMerge(app, { ...wish, directory }, call);
  const found: Resolved[] = [];
  for (const conflict of conflicts) {
    const way = chosen.get(conflict);
    if (way !== undefined) found.push(await bySideOrFile(conflict, way, directory));
    else if (byHand !== undefined)
      found.push({ conflict, how: "merged", result: await mergedByHand(conflict, byHand, call) });
  }
  return found;
}

async function handMerge(app: App, { tool, directory }: ResolveWish & { readonly directory: string }, call: Call) {
  return tool ? toolMerge(directory, app.environment, call) : editorMerge(app.environment, call);
}

function chosenWays(conflicts: readonly ShownConflict[], wish: ResolveWish): Map<ShownConflict, Chosen> {
  const chosen = new Map<ShownConflict, Chosen>();
  const put = (name: string, way: Chosen): void => {
    for (const conflict of named(conflicts, name)) {
      if (chosen.has(conflict))
        throw new UsageError(`${conflict.path} is named twice.`, { kept: "Nothing was changed." });
      chosen.set(conflict, way);
    }
  };
  for (const [name, file] of Object.entries(wish.files)) put(name, { how: "merged", file });
  for (const name of wish.takeYours) put(name, { how: "yours" });
  for (const name of wish.takePlan) put(name, { how: "plan" });
  return chosen;
}

/** A file by its path, with or without the resource in front; "." for all. */
function named(conflicts: readonly ShownConflict[], name: string): ShownConflict[] {
  const wanted = name.replace(/^\.\//, "");
  const found = conflicts.filter(
    ({ resource, path }) => wanted === "." || wanted === path || wanted === `${resource}/${path}`,
  );
  if (found.length > 0) return found;
  throw new UsageError(`${shown(name)} is not in conflict.`, {
    kept: "Nothing was changed.",
    next: [{ text: `in conflict: ${names(conflicts)}` }],
  });
}

async function bySideOrFile(conflict: ShownConflict, way: Chosen, directory: string): Promise<Resolved> {
  const { how } = way;
  if (how !== "merged") return { conflict, how, result: stateOf(how === "yours" ? conflict.yours : conflict.plans) };
  const file = resolve(directory, way.file);
  const content = await readFile(file).catch((error: unknown) => {
    throw new AgentsError("resource_failed", `${shown(file, 300)} cannot be read.`, {
      cause: error,
      kept: "Nothing was changed.",
    });
  });
  const problem = markerProblem(content);
  if (problem !== undefined) throw unmergedError(shown(file, 300), problem);
  return { conflict, how, result: { content, mode: modeOf(conflict) } };
}

function openConflictsError(left: readonly ShownConflict[]): UsageError {
  return new UsageError(`Say how to resolve ${names(left)}.`, {
    kept: "Nothing was changed.",
    next: [{ text: "--take-yours FILE, --take-plan FILE, --file FILE=MERGED, --edit, --tool, or --agent for all" }],
  });
}

function names(conflicts: readonly ShownConflict[]): string {
  const first = conflicts.slice(0, 3).map(({ resource, path }) => `${resource}/${path}`);
  return `${first.join(", ")}${conflicts.length > 3 ? ` and ${conflicts.length - 3} more` : ""}`;
}

const WAYS = { yours: "kept as the user's", plan: "taken from the plan", merged: "merged by hand" } as const;

/** As later prompts of the plan are told. */
export function resolutionText(all: readonly Resolved[]): string {
  const files = all.map(({ conflict, how }) => `${conflict.resource}/${conflict.path} (${WAYS[how]})`);
  return `The user resolved conflicts with what changed meanwhile: ${files.join(", ")}.`;
}

/**
 * The plan continues with its conflicts: in its sandbox each file is as the target has it, with those of the plan's
 * lines that merge, and its actor is told all three sides of the others.
 */
export async function resolveByAgent(app: App, plan: Plan, conflicts: readonly ShownConflict[]): Promise<void> {
  const store = await app.store();
  const source = recordSourceOf({ store, user: await app.user() });
  const all: Resolution[] = [];
  for (const conflict of conflicts) {
    const hasLines = [conflict.yours, conflict.plans].every(({ kind }) => kind === "text");
    const content = hasLines ? await mergedLines(conflict, "--ours") : undefined;
    const result = content === undefined ? stateOf(conflict.yours) : { content, mode: modeOf(conflict) };
    all.push({ conflict, result });
  }
  const change = await resolvingChange(store, source, plan, all);
  await guidePlan(app, plan.id, agentText(conflicts), {
    require: async (tx) => {
      const moved = await moveResolved(tx, source, plan, change);
      if (canFollowUp(moved, await findDecisions(tx, plan.id, plan.attempt))) return moved;
      throw new PlanError(`The steps of plan ${plan.id} are fixed: no model can be asked to resolve its conflicts.`, {
        kept: "Nothing was changed.",
        next: [nextStep("plan.resolve", { plan: plan.id })],
      });
    },
    record: (tx, moved, decision) => recordChange(tx, moved, change, decision),
  });
}

const MOST_TOLD = 50_000;

function agentText(conflicts: readonly ShownConflict[]): string {
  const told = conflicts.map((conflict, index) => `${index + 1}. ${toldConflict(conflict)}`);
  return [
    "Your changes conflict with what others changed in the same places meanwhile. In these files the sandbox now has the others' lines where both changed them; your lines there are left out. Change these places so that both intentions are kept, and leave everything else as it is.",
    ...told,
  ]
    .join("\n\n")
    .slice(0, MOST_TOLD);
}

function toldConflict({ resource, path, kind, lines, base, plans }: ShownConflict): string {
  const head = `${resource}/${path}`;
  const side = (name: string, all: readonly string[]): string[] => [`${name}:`, ...all.map((line) => `  ${line}`)];
  if (kind === "lines" || lines.length > 0) {
    const places = lines.flatMap(({ line, yours, base: before, plans: yourLines }) => [
      `At line ${line}:`,
      ...side("before", before),
      ...side("the others", yours),
      ...side("you", yourLines),
    ]);
    return [head, ...places].join("\n");
  }
  if (plans.kind === "missing") return `${head}: you deleted it, the others changed it.`;
  if (base.kind !== "missing" && plans.kind === "text")
    return [`${head}: the others deleted it. You had changed it to:`, Buffer.from(plans.content).toString("utf8")].join(
      "\n",
    );
  return `${head}: both changed it, and it has no lines.`;
}
