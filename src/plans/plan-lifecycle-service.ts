import { parseAction, type Action, type ActionInput, type ActionState } from "../domain/action/action.ts";
import { isBuiltIn } from "../domain/profile/automation-profile.ts";
import { ConflictError, NotFoundError, UsageError, ValidationError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { idPrefix, onlyOne } from "../domain/names/id-prefix.ts";
import { isId, type PlanId } from "../domain/names/ids.ts";
import { FAILURE_CATEGORIES, type FailureCategory, type Plan, type PlanFailure } from "../domain/plan/plan.ts";
import { parseQualifiedName, type QualifiedName } from "../domain/names/qualified-name.ts";
import { shown, textProblem } from "../domain/text/text.ts";
import type { PlanOperation, Phase, State } from "../domain/plan/transitions.ts";
import { Lease, LEASE_TTL_MS } from "../ledger/leases.ts";
import { findAction, findActions, insertAction, planCounts, updateActionState } from "../store/tables/actions.ts";
import { findFailures, findPlan, planIdsByPrefix } from "../store/tables/plans.ts";
import { countPlans, findPlanSummaries, type PlanSummary } from "../store/tables/plan-summaries.ts";
import { findOwnProfiles, requireProfile } from "../store/tables/profiles.ts";
import { inLane } from "../store/in-lane.ts";
import type { Store } from "../store/port.ts";
import { replaceAction, requireSeen, type ReplaceRules } from "./replace-rules.ts";
import { reviseStrategy } from "./revise-strategy.ts";
import { rollBack, type RolledBack } from "./rollback.ts";
import {
  recordSourceOf,
  defaultHolder,
  recordEvent,
  transition,
  type RecordSource,
  type LeaseUse,
  type ServiceParts,
} from "./transition.ts";
import { argumentsFor, makePlan, requireAction, type UseActionInput } from "./use-action.ts";

/** How a phase is owned while it runs. */
export interface StartOptions {
  /** Shown to others while the phase runs. */
  readonly holder?: string;
  readonly ttlMs?: number;
}

/** Why a phase stopped. */
export interface FailureInput {
  readonly message: string;
  /** `transient`: the same strategy may be tried again. `strategy` (default): it needs another one. */
  readonly category?: FailureCategory;
}

/** Conditions of a move of a plan. */
export interface MoveOptions {
  /** Refuse unless the plan is still at the version the caller saw. */
  readonly expectedVersion?: number | undefined;
  readonly reason?: string | undefined;
}

/** Which plans are listed. */
export interface PlanQuery {
  readonly phase?: Phase | undefined;
  readonly state?: State | undefined;
  readonly action?: string | undefined;
  readonly project?: string | undefined;
  /** At most this many, the newest first. */
  readonly limit?: number;
  readonly before?: PlanId | undefined;
}

/** Some plans, and how many there are in all. */
export interface PlanList {
  readonly plans: readonly PlanSummary[];
  /** All plans that fit, by state, also those beyond the limit. */
  readonly counts: ReadonlyMap<State, number>;
}

/** An action with the number of its plans. */
export interface ListedAction extends Action {
  readonly plans: number;
}

/**
 * Actions and the lifecycle of plans. The service holds no state: every call reads the store and changes it in one
 * transaction, so any number of services in any number of threads and processes agree. A long phase is started with a
 * lease (`startExecute`), and only the holder of that lease can end it (`completeExecute(lease)`).
 *
 * ```ts
 * const service = new PlanLifecycleService({ store });
 * const plan = await service.useAction({ action: "local/fix", projects: ["shop"] });
 * const lease = await service.startStrategize(plan.id);
 * await service.completeStrategize(lease);
 * ```
 */
export class PlanLifecycleService {
  readonly #store: Store;
  readonly #recordSource: RecordSource;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#recordSource = recordSourceOf(parts);
  }

  /** In whose name everything is recorded. */
  get user(): string {
    return this.#recordSource.user;
  }

  /**
   * Insert-if-absent: of any number of concurrent creators of one name exactly one wins. With `replace`, plans of the
   * earlier definition keep what they took from it.
   */
  async createAction(input: ActionInput, rules: ReplaceRules = {}): Promise<Action> {
    const { automationProfile: profile } = input;
    const own =
      profile === undefined || isBuiltIn(profile) ? [] : await this.#store.read((reader) => findOwnProfiles(reader));
    const definition = parseAction(input, own);
    return this.#store.transaction(async (tx) => {
      const at = this.#recordSource.clock();
      // One that was removed since must not be named by what comes after.
      if (own.length > 0 && definition.automationProfile !== undefined)
        await requireProfile(tx, definition.automationProfile);
      const before = rules.replace === true ? await findAction(tx, definition.name) : undefined;
      requireSeen(`action "${definition.name}"`, before, rules.seen);
      if (before !== undefined) return replaceAction(tx, this.#recordSource, before, { ...definition, at });
      if (!(await insertAction(tx, definition, at))) {
        throw new ConflictError(
          `There is already an action "${definition.name}".`,
          { expected: "no such action", actual: definition.name, code: "already_exists" },
          {
            kept: "The existing action was not changed.",
            next: [
              nextStep("action.show", { action: definition.name }),
              nextStep("action.create", { definition: { file: "<file>" }, replace: true }),
            ],
          },
        );
      }
      const action: Action = { ...definition, state: "available", version: 1, createdAt: at, updatedAt: at };
      await recordEvent(tx, this.#recordSource, { type: "action.created", at, details: { action: action.name } });
      return action;
    });
  }

  async getAction(name: string): Promise<Action> {
    return this.#store.read((reader) => requireAction(reader, name));
  }

  async listActions(
    filter: { namespace?: string | undefined; state?: ActionState | undefined } = {},
  ): Promise<ListedAction[]> {
    return this.#store.read(async (reader) => {
      const actions = await findActions(reader, filter);
      const counts = await planCounts(reader);
      return actions.map((action) => ({ ...action, plans: counts.get(action.name.toLowerCase()) ?? 0 }));
    });
  }

  /** No new plans of it from now on; existing ones continue. Archiving an archived action changes nothing. */
  async archiveAction(name: string): Promise<Action> {
    return this.#store.transaction(async (tx) => {
      const action = await requireAction(tx, name);
      if (action.state === "archived") return action;
      const at = this.#recordSource.clock();
      await updateActionState(tx, action, "archived", at);
      await recordEvent(tx, this.#recordSource, { type: "action.archived", at, details: { action: action.name } });
      return { ...action, state: "archived", version: action.version + 1, updatedAt: at };
    });
  }

  /** Makes a plan at strategize/queued. All problems with names and arguments are found before anything is written. */
  async useAction(input: UseActionInput): Promise<Plan> {
    const values = argumentsFor(await this.getAction(input.action), input);
    return this.#store.transaction((tx) => makePlan(tx, this.#recordSource, input, values));
  }

  /** By id or by a prefix of it that only one plan has. */
  async getPlan(idOrPrefix: string): Promise<Plan> {
    const next = [nextStep("plan.list")];
    const wanted = idPrefix("plan", idOrPrefix, next);
    return this.#store.read(async (reader) => {
      const ids = isId(wanted) ? [wanted as PlanId] : await planIdsByPrefix(reader, wanted, 6);
      const { id } = onlyOne(
        "plan",
        wanted,
        ids.map((one) => ({ id: one })),
        next,
      );
      const plan = await findPlan(reader, id);
      if (plan === undefined) throw new NotFoundError("plan", idOrPrefix, { next });
      return plan;
    });
  }

  async listPlans(query: PlanQuery = {}): Promise<PlanList> {
    const name = (text: string | undefined, field: string): QualifiedName | undefined =>
      text === undefined ? undefined : parseQualifiedName(text, field);
    const filter = {
      phase: query.phase,
      state: query.state,
      action: name(query.action, "action"),
      project: name(query.project, "project"),
    };
    return this.#store.read(async (reader) => ({
      plans: await findPlanSummaries(reader, filter, { limit: query.limit ?? 50, before: query.before }),
      counts: await countPlans(reader, filter),
    }));
  }

  /** Why the plan's phases stopped, oldest first. */
  async listFailures(planId: PlanId): Promise<PlanFailure[]> {
    return this.#store.read((reader) => findFailures(reader, planId));
  }

  async startStrategize(planId: PlanId, options: StartOptions = {}): Promise<Lease<"strategize">> {
    return this.#start(planId, "strategize", "startStrategize", options);
  }

  async completeStrategize(lease: Lease<"strategize">): Promise<Plan> {
    return this.#end(lease, "completeStrategize");
  }

  async failStrategize(lease: Lease<"strategize">, failure: FailureInput): Promise<Plan> {
    return this.#end(lease, "failStrategize", failure);
  }

  /**
   * Back to strategize/queued when guidance came after the strategy and before its first step; undefined when none did.
   */
  async reviseStrategy(planId: PlanId): Promise<Plan | undefined> {
    return this.#store.transaction((tx) => reviseStrategy(tx, this.#recordSource, planId));
  }

  /**
   * strategize/complete → execute/queued; an errored execute is queued again with the same strategy and its recorded
   * steps.
   */
  async executePlan(planId: PlanId, options: MoveOptions = {}): Promise<Plan> {
    return this.#move(planId, "executePlan", { kind: "none" }, options);
  }

  async startExecute(planId: PlanId, options: StartOptions = {}): Promise<Lease<"execute">> {
    return this.#start(planId, "execute", "startExecute", options);
  }

  async completeExecute(lease: Lease<"execute">): Promise<Plan> {
    return this.#end(lease, "completeExecute");
  }

  /** `others` are the failures of steps that ran side by side with the one that failed first. */
  async failExecute(
    lease: Lease<"execute">,
    failure: FailureInput,
    others: readonly FailureInput[] = [],
  ): Promise<Plan> {
    return this.#end(lease, "failExecute", failure, others);
  }

  /** execute/complete → apply/queued; an errored apply is queued again. */
  async applyPlan(planId: PlanId, options: MoveOptions = {}): Promise<Plan> {
    return this.#move(planId, "applyPlan", { kind: "none" }, options);
  }

  async startApply(planId: PlanId, options: StartOptions = {}): Promise<Lease<"apply">> {
    return this.#start(planId, "apply", "startApply", options);
  }

  /**
   * The result may not be applied as it is. From apply/queued by plan id, from apply/processing only by the lease's
   * holder.
   */
  async constrainApply(target: PlanId | Lease<"apply">, failure: FailureInput): Promise<Plan> {
    if (typeof target !== "string") return this.#end(target, "constrainApply", failure);
    const checked = checkFailure(failure);
    const { plan } = await this.#store.transaction(async (tx) => {
      const current = await findPlan(tx, target);
      if (current?.phase === "apply" && current.state === "processing") {
        throw new ConflictError(`The plan ${target} is being applied; only the holder of its lease can constrain it.`, {
          expected: "apply/queued",
          actual: "apply/processing",
          code: "invalid_transition",
        });
      }
      const request = {
        planId: target,
        operation: "constrainApply",
        lease: { kind: "none" },
        failure: checked,
      } as const;
      return transition(tx, this.#recordSource, request);
    });
    return plan;
  }

  async failApply(lease: Lease<"apply">, failure: FailureInput): Promise<Plan> {
    return this.#end(lease, "failApply", failure);
  }

  /** Final. Running work loses its lease and can write nothing more; what it recorded is kept. */
  async cancelPlan(planId: PlanId, options: MoveOptions = {}): Promise<Plan> {
    return this.#move(planId, "cancelPlan", { kind: "revoke" }, options);
  }

  /** Back to strategize/queued for another attempt, at most three times. */
  async revertPlan(planId: PlanId, options: MoveOptions = {}): Promise<Plan> {
    return this.#move(planId, "revertPlan", { kind: "revoke" }, options);
  }

  /**
   * Back to execute/queued, with everything after the checkpoint superseded: `plan execute` continues from there.
   * Refused while another process executes it.
   */
  async rollbackPlan(planId: PlanId, checkpoint: string, options: MoveOptions = {}): Promise<RolledBack> {
    const reason = options.reason === undefined ? undefined : checkLine(options.reason, "reason");
    const { expectedVersion } = options;
    return inLane(this.#store, planId).transaction((tx) =>
      rollBack(tx, this.#recordSource, { planId, checkpoint, expectedVersion, reason }),
    );
  }

  async #start<P extends Phase>(
    planId: PlanId,
    phase: P,
    operation: PlanOperation,
    options: StartOptions,
  ): Promise<Lease<P>> {
    const { holder = defaultHolder(), ttlMs = LEASE_TTL_MS } = options;
    if (!Number.isSafeInteger(ttlMs) || ttlMs < 1) throw new UsageError(`A lease cannot last ${ttlMs} ms.`);
    const lease: LeaseUse = { kind: "acquire", holder: checkLine(holder, "holder"), ttlMs };
    const store = inLane(this.#store, planId);
    const { plan, lease: facts } = await store.transaction((tx) =>
      transition(tx, this.#recordSource, { planId, operation, lease }),
    );
    if (facts === undefined) throw new Error(`${operation} did not take a lease`);
    return new Lease({ store, plan, phase, facts, ttlMs });
  }

  async #end(
    lease: Lease,
    operation: PlanOperation,
    failure?: FailureInput,
    others: readonly FailureInput[] = [],
  ): Promise<Plan> {
    const { planId } = lease;
    const request = {
      planId,
      operation,
      lease: { kind: "end", held: lease } as const,
      failure: failure === undefined ? undefined : checkFailure(failure),
      otherFailures: others.map(checkFailure),
    };
    const { plan } = await inLane(this.#store, planId).transaction((tx) => transition(tx, this.#recordSource, request));
    lease.stop();
    return plan;
  }

  async #move(planId: PlanId, operation: PlanOperation, lease: LeaseUse, options: MoveOptions): Promise<Plan> {
    const reason = options.reason === undefined ? undefined : checkLine(options.reason, "reason");
    const { expectedVersion } = options;
    const { plan } = await inLane(this.#store, planId).transaction((tx) =>
      transition(tx, this.#recordSource, { planId, operation, lease, expectedVersion, reason }),
    );
    return plan;
  }
}

function checkFailure(failure: FailureInput): { message: string; category: FailureCategory } {
  const category = failure.category ?? "strategy";
  if (!FAILURE_CATEGORIES.includes(category)) {
    throw new ValidationError(`${shown(category)} is not a failure category.`, [
      { path: "category", message: category },
    ]);
  }
  return { message: checkLine(failure.message, "message"), category };
}

function checkLine(text: string, path: string): string {
  const problem = text.trim() === "" ? "is empty" : textProblem(text);
  if (problem === undefined) return text;
  throw new ValidationError(`The ${path} ${problem}.`, [{ path, message: problem }]);
}
