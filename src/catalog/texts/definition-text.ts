/** Stored definitions as the files that their authors could have written. */
import type { ActionDefinition } from "../../domain/action/action.ts";
import type { ActorDefinition } from "../../domain/actor/actor.ts";
import type { AutomationProfile } from "../../domain/profile/automation-profile.ts";
import type { ToolSkill } from "../../domain/tool/tool-skill.ts";
import type { ValidationDefinition } from "../../domain/validation/validation.ts";
import type { StoredTool } from "../tool-file.ts";
import { actorValue } from "./actor-text.ts";
import { fileText, snakeKeys } from "./yaml-of-definition.ts";

export function actorText(actor: ActorDefinition): string {
  return fileText(actorValue(actor));
}

export function actionText(action: ActionDefinition): string {
  const { actors, stepActors, invariants } = action;
  return fileText({
    name: action.name,
    description: action.description,
    long_description: action.longDescription,
    definition_of_done: action.definitionOfDone,
    strategy_actor: actors.strategy,
    ...(stepActors.length === 0 ? { execution_actor: actors.execution } : { execution_actors: stepActors }),
    arguments: action.arguments.length === 0 ? undefined : action.arguments,
    invariants: invariants.length === 0 ? undefined : invariants,
    automation_profile: action.automationProfile,
    reusable: action.reusable,
    read_only: action.readOnly,
  });
}

/** Every setting is written out: the profile that it extends may have changed since. */
export function profileText(profile: AutomationProfile): string {
  const { name, description, thresholds, guards, budget, ...safety } = profile;
  return fileText({
    name,
    description,
    thresholds: snakeKeys(thresholds),
    safety: snakeKeys({
      requireSandbox: safety.requireSandbox,
      requireCheckpoints: safety.requireCheckpoints,
      requireConfinement: safety.requireConfinement,
      requireHumanApproval: safety.requireHumanApproval,
      allowUnsafeTools: safety.allowUnsafeTools,
      network: safety.network,
      maxRetriesPerStep: safety.maxRetriesPerStep,
    }),
    guards: snakeKeys(guards),
    budget: budget.maxCostUsd === undefined ? undefined : { max_cost_usd: budget.maxCostUsd },
  });
}

export function validationText({ name, description, mode, check }: ValidationDefinition): string {
  const { kind: _, ...rest } = check;
  return fileText({ name, description, mode, ...snakeKeys(rest) });
}

export function toolText({ name, description, parameters, runs, ...rest }: StoredTool): string {
  const { writes, timeoutMs, output, cwd, env } = rest;
  const program =
    runs.kind === "module" ? { module: runs.path } : { command: runs.kind === "shell" ? runs.text : runs.command };
  return fileText({ name, description, parameters, ...program, writes, timeout_ms: timeoutMs, output, cwd, env });
}

export function skillText({ name, description, tools, includes, skills }: ToolSkill): string {
  return fileText({ name, description, tools, includes, agent_skills: skills });
}
