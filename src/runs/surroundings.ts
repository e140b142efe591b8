/** What a model is told about the place in which it works: the project's instructions, the sandbox, and its checks. */
import type { Instructions } from "../actors/loop/briefing.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { Workspace } from "../execution/workspace/workspace.ts";
import { rootInstructions } from "./project-instructions.ts";

export interface Surroundings {
  readonly instructions: readonly Instructions[];
  readonly facts: readonly string[];
  readonly checks: readonly { readonly command: string; readonly from: string }[];
}

export async function surroundingsOf(plan: Plan, workspaces: ReadonlyMap<string, Workspace>): Promise<Surroundings> {
  const roots = new Map([...workspaces].map(([alias, { sandbox }]) => [alias, sandbox.root]));
  const inPlace = [...workspaces.values()].some(({ worksInPlace }) => worksInPlace);
  const facts = [
    ...(inPlace ? ["You work in the user's own directory; commands cannot be run here."] : []),
    ...(inPlace ? [] : [`Commands run with sh on ${process.platform}, at the root of the resource.`]),
    plan.profile.allowUnsafeTools ? "Commands may use the network." : "Commands have no network.",
  ];
  return { instructions: await rootInstructions(roots), facts, checks: [] };
}
