import type { AttachedValidation } from "../domain/attachment.ts";
import { AgentsError, PlanError, StaleLeaseError, ValidationError, type ValidationIssue } from "../domain/errors.ts";
import type { PlanId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import { statusKey } from "../domain/transitions.ts";
import { findResourceType, type ProjectResource } from "../domain/resource.ts";
import { storable } from "../domain/text.ts";
import type { ToolActor } from "../domain/tool-actor.ts";
import { decidedWaves } from "../execution/decided-steps.ts";
import { requireGit } from "../execution/git.ts";
import { runHooks, type HookRun } from "../execution/hooks.ts";
import { validateSandboxes, type PlanValidation } from "../execution/plan-validation.ts";
import { runToolSteps, type OpenSandboxes, type StepRun, type ToolStep } from "../execution/step-runner.ts";
import type { SandboxTarget } from "../execution/sandbox.ts";
import type { Lease } from "../ledger/leases.ts";
import { findActor } from "../store/actors.ts";
import { findLinks } from "../store/resources.ts";
import type { Store } from "../store/store.ts";
import { attachedValidations } from "../store/validations.ts";
import type { PlanContextService } from "./plan-context-service.ts";
import type { PlanLifecycleService, StartOptions } from "./plan-lifecycle-service.ts";
import { chosenSteps, recordStrategy } from "./strategy.ts";

export interface ExecuteOptions extends StartOptions {
  /** Ends the run cleanly: what is recorded stays, and the plan can be taken up again at once. */
  readonly signal?: AbortSignal;
  readonly onStep?: StepRun["onStep"];
  /** False: the repositories' own hooks are skipped. */
  readonly verify?: boolean;
  readonly onHook?: HookRun["onHook"];
  readonly onValidationStart?: PlanValidation["onStart"];
  readonly onValidation?: PlanValidation["onResult"];
  readonly onSandbox?: StepRun["onSandbox"];
  /** New sandboxes of git checkouts start from what is not committed too; one that is there goes on from what it was made of. */
  readonly includeDirty?: boolean;
}

export interface Executed {
  readonly plan: Plan;
  /** False when the plan had been executed before: then nothing was done. */
  readonly ran: boolean;
}

/**
 * Carries a plan from where it is to execute/complete. The steps of a tool actor are the strategy: strategizing records them as
 * decisions, and executing runs what was decided, whatever becomes of the actor meanwhile. Called again after a crash or an error it goes on behind the recorded steps; called on a plan that is executed it does
 * nothing; called by two at once it runs once, and the other is told.
 */
export class PlanExecutor {
  readonly #store: Store;
  readonly #service: PlanLifecycleService;
  readonly #directory: string;
  readonly #context: PlanContextService | undefined;

  /** `directory`: below which sandboxes are kept. `context`: what answers steps that ask about their plan. */
  constructor(parts: {
    store: Store;
    service: PlanLifecycleService;
    directory: string;
    context?: PlanContextService | undefined;
  }) {
    this.#context = parts.context;
    this.#store = parts.store;
    this.#service = parts.service;
    this.#directory = parts.directory;
  }

  async execute(planId: PlanId, options: ExecuteOptions = {}): Promise<Executed> {
    const plan = await this.#service.getPlan(planId);
    if (statusKey(plan) === "execute/complete" || plan.phase === "apply") return { plan, ran: false };
    const targets = await this.#targetsOf(plan, options);
    const validations = await this.#store.read((reader) => attachedValidations(reader, plan));
    // Without it nothing can be done, and the plan stays as it is.
    if (targets.some(({ strategy }) => strategy === "git_worktree")) await requireGit();
    await this.#queue(plan, options);
    const waves = await this.#decided(plan);

    const lease = await this.#service.startExecute(planId, options);
    const { signal = new AbortController().signal, onStep = () => undefined, onSandbox = () => undefined } = options;
    await using context = this.#context?.executing(lease.plan);
    try {
      await using opened = await runToolSteps({
        lease,
        directory: this.#directory,
        targets,
        waves,
        knowledge: context?.port,
        signal,
        onStep,
        onSandbox,
      });
      await this.#check(lease, opened, validations, options);
      return { plan: await this.#service.completeExecute(lease), ran: true };
    } catch (error) {
      if (error instanceof StaleLeaseError) throw error;
      if (signal.aborted) {
        await lease.release();
        throw interrupted(plan);
      }
      await this.#service.failExecute(lease, {
        message: storable(error instanceof Error ? error.message : String(error)),
      });
      throw error;
    }
  }

  /** The hooks first: what they rewrite is to be validated too. */
  async #check(
    lease: Lease<"execute">,
    opened: OpenSandboxes,
    validations: readonly AttachedValidation[],
    options: ExecuteOptions,
  ): Promise<void> {
    const signal = AbortSignal.any([lease.signal, ...(options.signal === undefined ? [] : [options.signal])]);
    const { verify = true, onHook = () => undefined } = options;
    const { onValidationStart: onStart = () => undefined, onValidation: onResult = () => undefined } = options;
    await runHooks({ ...opened, lease, verify, signal, onHook });
    await validateSandboxes({ lease, workspaces: opened.workspaces, validations, signal, onStart, onResult });
  }

  /** Up to execute/queued, or to where somebody's work on it lapsed. */
  async #queue(plan: Plan, options: StartOptions): Promise<void> {
    if (plan.phase === "strategize" && plan.state !== "complete") {
      const steps = chosenSteps(await this.#actorOf(plan), plan);
      await using lease = await this.#service.startStrategize(plan.id, options);
      await recordStrategy(lease, steps);
      await this.#service.completeStrategize(lease);
    }
    if (plan.phase === "strategize" || plan.state === "errored") await this.#service.executePlan(plan.id);
  }

  async #decided(plan: Plan): Promise<ToolStep[][]> {
    const waves = await decidedWaves(this.#store, plan.id, plan.attempt);
    if (waves.length > 0) return waves;
    throw new PlanError(`Nothing was decided in attempt ${plan.attempt} of plan ${plan.id} that could be executed.`, {
      kept: "Nothing was changed in its sandboxes.",
      next: [`agents plan revert ${plan.id}`],
    });
  }

  async #actorOf(plan: Plan): Promise<ToolActor> {
    const name = plan.actors.execution;
    const actor = name === undefined ? undefined : await this.#store.read((reader) => findActor(reader, name));
    if (actor !== undefined) return actor;
    throw new AgentsError(
      "not_found",
      `The execution actor "${name}" is not registered; only tool actors can execute yet.`,
      {
        kept: "The plan was not changed.",
        next: ["agents actor list", "agents actor add --config <file>"],
        detail: { kind: "actor", id: name },
      },
    );
  }

  async #targetsOf(plan: Plan, { includeDirty = false }: ExecuteOptions): Promise<SandboxTarget[]> {
    const links = await this.#store.read(async (reader) => {
      const all: (ProjectResource & { readonly planReadOnly: boolean })[] = [];
      for (const { project, readOnly } of plan.projects) {
        for (const link of await findLinks(reader, { project })) all.push({ ...link, planReadOnly: readOnly });
      }
      return all;
    });
    const issues: ValidationIssue[] = [];
    for (const [index, { alias, project }] of links.entries()) {
      const other = links.slice(0, index).find((link) => link.alias.toLowerCase() === alias.toLowerCase());
      if (other === undefined) continue;
      issues.push({ path: alias, message: `"${alias}" is a resource of ${other.project} and of ${project}` });
    }
    if (issues.length > 0) {
      throw new ValidationError(`The plan's projects use one alias twice: ${issues[0]?.message}.`, issues, {
        next: ["agents project link-resource <project> <resource> --alias <another>"],
      });
    }
    return links.map(({ alias, type, path, branch, readOnly, planReadOnly }) => ({
      alias,
      strategy: findResourceType(type)?.sandbox ?? "filesystem_copy",
      path,
      branch,
      readOnly: readOnly || planReadOnly,
      includeDirty,
    }));
  }
}

function interrupted(plan: Plan): PlanError {
  return new PlanError(`The execution of plan ${plan.id} was interrupted.`, {
    kept: "Finished steps are recorded, and the plan goes on where it stopped.",
    next: [`agents plan execute ${plan.id}`],
  });
}
