import type { AttachedValidation } from "../domain/validation/attachment.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { missingConfinementError } from "../confinement/require-confinement.ts";
import { findHooks } from "../execution/checks/hook-files.ts";
import type { SandboxTarget } from "../execution/sandbox/sandbox.ts";
import type { ToolSet } from "../execution/tools/tool-set.ts";
import { nextStep } from "../domain/errors/next-step.ts";

/**
 * Refuses a plan before it begins, where its profile requires confinement, nothing here can confine, and it is known
 * that the plan will run programs: steps that are commands, validations that are commands, hooks of its repositories. A
 * model that calls a command is told at the call, and continues without it.
 */
export interface KnownWork {
  readonly targets: readonly SandboxTarget[];
  readonly validations: readonly AttachedValidation[];
  /** False: the hooks are skipped. */
  readonly verify: boolean;
  readonly tools: ToolSet;
  /** Asked only where the plan may be refused. */
  readonly steps: () => Promise<readonly { readonly id: string; readonly tool: string | undefined }[]>;
}

export async function requireConfinedCommands(plan: Plan, work: KnownWork): Promise<void> {
  if (!plan.profile.requireConfinement) return;
  const error = await missingConfinementError();
  if (error === undefined) return;
  const steps = (await work.steps()).filter(({ tool = "" }) => work.tools.get(tool)?.compared === true);
  const commands = work.validations.filter(({ validation }) => validation.check.kind === "command");
  const hooks = plan.readOnly || !work.verify ? [] : await hooksOf(work.targets);
  const names = [
    ...steps.map(({ id }) => `the step "${id}"`),
    ...commands.map(({ validation }) => `the validation ${validation.name}`),
    ...hooks,
  ];
  if (names.length === 0) return;
  const onlyHooks = names.length === hooks.length;
  throw error({
    what: `Plan ${plan.id} (${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${names.length - 5} more` : ""})`,
    kept: "Nothing was run, and the plan stays as it is.",
    next: [
      ...(onlyHooks ? [nextStep("plan.execute", { plan: plan.id, verify: false })] : []),
      ...commands.slice(0, 1).map(({ attachment }) => nextStep("validation.detach", { attachment })),
    ],
    plan,
  });
}

async function hooksOf(targets: readonly SandboxTarget[]): Promise<string[]> {
  const names: string[] = [];
  for (const { alias, path, strategy, readOnly } of targets) {
    if (strategy !== "git_worktree" || readOnly) continue;
    const { programs } = await findHooks(path);
    names.push(...[...programs.keys()].map((hook) => `the hook ${hook} of "${alias}"`));
  }
  return names;
}
