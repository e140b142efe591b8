/** A description, for a model, of the place in which it works: the project's instructions, the sandbox, its checks. */
import type { Plan } from "../domain/plan/plan.ts";
import type { Instructions } from "../domain/plan/tool-outcome.ts";
import { sandboxAbilities, type SandboxAbilities } from "../execution/checks/test-readiness.ts";
import type { Workspace } from "../execution/workspace/workspace.ts";
import { rootInstructions } from "./project-instructions.ts";

export interface PlaceFacts {
  readonly instructions: readonly Instructions[];
  readonly facts: readonly string[];
  readonly checks: readonly { readonly command: string; readonly from: string }[];
}

/** `ownInstructions` is the user's file with instructions for all projects. */
export async function surroundingsOf(
  plan: Plan,
  workspaces: ReadonlyMap<string, Workspace>,
  ownInstructions: string | undefined,
): Promise<PlaceFacts> {
  const roots = new Map([...workspaces].map(([alias, { sandbox }]) => [alias, sandbox.root]));
  const { network, requireConfinement } = plan.profile;
  const facts: string[] = [];
  const checks: { command: string; from: string }[] = [];
  for (const [alias, { sandbox, worksInPlace }] of workspaces) {
    if (worksInPlace) {
      facts.push(`${alias} is the user's own directory; commands cannot be run there.`);
      continue;
    }
    const { path, strategy } = sandbox;
    const abilities = await sandboxAbilities({ path, strategy, network, requireConfinement });
    facts.push(...carriedFacts(alias, abilities));
    checks.push(...firstOfEach(abilities));
  }
  facts.push(`Commands run with sh on ${process.platform}, at the root of their resource.`);
  facts.push(NETWORK_FACTS[network]);
  return { instructions: await rootInstructions(roots, ownInstructions), facts, checks };
}

const NETWORK_FACTS = {
  off: "Commands have no network.",
  registries: "Commands reach the registries of package managers, through a proxy that is set, and nothing else.",
  on: "Commands may use the network.",
} as const;

function carriedFacts(alias: string, { carried, setup, tests }: SandboxAbilities): string[] {
  const along = carried.slice(0, 5).map(({ path }) => path);
  return [
    ...(setup === undefined ? [] : [`${alias} was set up by the command: ${setup}`]),
    ...(along.length === 0 ? [] : [`${alias} has ${along.join(", ")} for commands; file tools do not see them.`]),
    ...(tests.canRun ? [] : [`The tests of ${alias} cannot run here: ${tests.why}.`]),
  ];
}

/** The command to run for each purpose. */
function firstOfEach({ checks }: SandboxAbilities): { command: string; from: string }[] {
  const first = new Map<string, { command: string; from: string }>();
  for (const { purpose, command, file, line } of checks)
    if (!first.has(purpose)) first.set(purpose, { command, from: `${file}:${line}` });
  return [...first.values()];
}
