/**
 * Applies a plan to the user's resources, undoes it and redoes it: on all of its resources or on none. Each of the
 * three is one journaled landing (`plan-landing.ts`); they differ only in which steps' changes are in the resources
 * before and after.
 */
import type { DataDirectory } from "../platform/data-directory.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { FILE_EFFECTS, type FileEffects } from "./file-effects.ts";
import type { JournalKind } from "../ledger/journal.ts";
import type { PreparedLandings } from "./prepare-landings.ts";
import { mustBeApproved } from "../domain/profile/automation-profile.ts";
import { PlanError } from "../domain/errors/errors.ts";
import type { ChangesetId, PlanId } from "../domain/names/ids.ts";
import { worksInPlace } from "../domain/resource/resource.ts";
import { REVIEW_STEP, type PlanChange } from "../changes/plan-changes.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { statusKey } from "../domain/plan/transitions.ts";
import { recordedHooks } from "../execution/checks/hooks.ts";
import type { Store } from "../store/port.ts";
import { approveApply, requireApplyApproval } from "../plans/apply-approval.ts";
import { requireNotUndone } from "../plans/in-place-rules.ts";
import { partInPlaceError, requireChanges } from "./landing-errors.ts";
import { requireCommitted, requireNewBranch } from "./new-branch.ts";
import { partialLanding, type TakenPart } from "./partial-landing.ts";
import {
  entriesOf,
  PlanLanding,
  recordsOf,
  stepsOf,
  type LandedPlan,
  type LandingOptions,
  type WantedLanding,
} from "./plan-landing.ts";
import type { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { recordSourceOf, requireVersion, type RecordSource, type ServiceParts } from "../plans/transition.ts";
import { sidesOf, takeApplied, undoable } from "./undo-redo.ts";

interface SeenOptions extends LandingOptions {
  /** The version of the plan that the yes is for: one that has changed since is refused. */
  readonly seenVersion?: number | undefined;
}

export interface ApplyOptions extends SeenOptions {
  /** Apply a plan that changed nothing. */
  readonly allowEmpty?: boolean;
  /** False: also when the repositories' own hooks were skipped. */
  readonly verify?: boolean;
  /** A person has just been asked and said yes: recorded as their approval where the plan's profile wants one. */
  readonly approved?: boolean;
  /** Only these changes; all of them unless given. */
  readonly part?: TakenPart | undefined;
  /** Make this branch in each repository, on the commit that the plan began from; nothing else is touched. */
  readonly onto?: string | undefined;
}

export interface UndoOptions extends SeenOptions {
  /** Only the changes of these steps, which must include every later step on their paths; all unless given. */
  readonly steps?: ReadonlySet<string> | undefined;
}

/** For a preview: changes that resolve conflicts and are not recorded yet. */
interface Resolving {
  readonly resolution?: readonly PlanChange[] | undefined;
}

export class PlanApplier {
  readonly #store: Store;
  readonly #service: PlanLifecycleService;
  readonly #recordSource: RecordSource;
  readonly #landing: PlanLanding;

  constructor(parts: ServiceParts & { service: PlanLifecycleService; data: DataDirectory; effects?: FileEffects }) {
    const { store, service, data, effects = FILE_EFFECTS } = parts;
    this.#store = store;
    this.#service = service;
    this.#recordSource = recordSourceOf(parts);
    this.#landing = new PlanLanding({ store, service, data, recordSource: this.#recordSource, effects });
  }

  async apply(planId: PlanId, options: ApplyOptions = {}): Promise<LandedPlan> {
    const plan = await this.#service.getPlan(planId);
    requireVersion(plan, options.seenVersion);
    if (statusKey(plan) !== "apply/applied") requireNotUndone(plan);
    const entries = await entriesOf(this.#store, plan);
    if (options.onto !== undefined) await this.#requireOnto(plan, entries, options.onto);
    if (statusKey(plan) === "execute/complete" || plan.phase === "apply") {
      requireChanges(plan, entries, options.allowEmpty === true);
      if (options.verify !== false) await this.#requireHooks(plan);
      if (statusKey(plan) !== "apply/applied") await this.#requireApproval(plan, options);
    }
    if (statusKey(plan) !== "apply/queued" && statusKey(plan) !== "apply/processing") {
      await this.#service.applyPlan(plan.id, { expectedVersion: plan.version });
    }
    const sides = await this.#sidesOfApply(plan, entries, options);
    const lease = await this.#service.startApply(plan.id);
    // A part is validated as it will be.
    if (sides.part === undefined) await this.#landing.requireValid(plan, lease);
    return this.#landing.run(lease, sides, options);
  }

  /** Undoes the changes of an applied plan; changes that other people and plans made meanwhile stay. */
  async undo(planId: PlanId, options: UndoOptions = {}): Promise<LandedPlan> {
    return this.#change("undo", planId, options);
  }

  /** Redoes everything that was undone. */
  async redo(planId: PlanId, options: SeenOptions = {}): Promise<LandedPlan> {
    return this.#change("redo", planId, options);
  }

  /** The landing as it would be now, with nothing changed. */
  async preview(
    kind: JournalKind,
    planId: PlanId,
    options: Pick<UndoOptions, "steps"> & Pick<ApplyOptions, "part" | "onto"> & Resolving = {},
  ): Promise<PreparedLandings> {
    const plan = await this.#service.getPlan(planId);
    const store = this.#store;
    const [entries, records, all] = [
      await entriesOf(store, plan),
      await recordsOf(store, plan),
      await stepsOf(store, plan),
    ];
    const facts = { kind, plan, entries, records };
    if (options.onto !== undefined) await this.#requireOnto(plan, entries, options.onto);
    if (kind === "apply")
      return this.#landing.prepare({ ...(await this.#sidesOfApply(plan, entries, options)), records });
    const wanted = { kind, all, entries, steps: options.steps };
    const { undone, applied } = await store.read((reader) => undoable(reader, plan, wanted));
    return this.#landing.prepare({ ...facts, ...sidesOf(wanted, undone), applied });
  }

  async #sidesOfApply(
    plan: Plan,
    entries: readonly PlanChange[],
    { part: taken, onto, resolution = [] }: Pick<ApplyOptions, "part" | "onto"> & Resolving,
  ): Promise<WantedLanding> {
    const [from, to] = [new Set<string>(), await stepsOf(this.#store, plan)];
    for (const { step } of resolution) to.add(step);
    const whole = {
      kind: "apply",
      plan,
      entries: [...entries, ...resolution],
      from,
      to,
      applied: undefined,
      onto,
    } as const;
    if (taken === undefined) return whole;
    if ((await recordsOf(this.#store, plan)).some(worksInPlace)) throw partInPlaceError(plan);
    const part = await partialLanding(this.#store, entries, taken, this.#recordSource.ids() as ChangesetId);
    return { ...whole, entries: [...entries, ...part.entries], to: new Set([...to, REVIEW_STEP]), part };
  }

  async #change(kind: "undo" | "redo", planId: PlanId, options: UndoOptions): Promise<LandedPlan> {
    const plan = await this.#service.getPlan(planId);
    const [all, entries] = [await stepsOf(this.#store, plan), await entriesOf(this.#store, plan)];
    const { steps, seenVersion } = options;
    const wanted = { kind, all, entries, steps, seenVersion };
    const { lease, undone, applied } = await takeApplied(this.#store, plan, wanted);
    return this.#landing.run(lease, { kind, plan, entries, ...sidesOf(wanted, undone), applied }, options);
  }

  async #requireApproval(plan: Plan, { approved = false }: ApplyOptions): Promise<void> {
    if (approved && mustBeApproved(plan.profile)) await approveApply(this.#store, this.#recordSource, plan);
    await requireApplyApproval(this.#store, plan);
  }

  /** Before the plan moves: a name that is taken, or a resource that has no branches, leaves it as it is. */
  async #requireOnto(plan: Plan, entries: readonly PlanChange[], onto: string): Promise<void> {
    const changed = new Set(entries.map(({ resource }) => resource));
    const records = (await recordsOf(this.#store, plan)).filter(({ alias }) => changed.has(alias));
    for (const record of records) requireCommitted(record, plan, "applied to a branch");
    for (const { path } of records) await requireNewBranch(path, onto);
  }

  /** A user who skipped the hooks of a repository must say so again before the changes are applied to it. */
  async #requireHooks(plan: Plan): Promise<void> {
    const skipped = (await recordedHooks(this.#store, plan)).filter((hook) => hook.skipped);
    if (skipped.length === 0) return;
    const names = skipped.map(({ resource, hook }) => `${hook} (${resource})`).join(", ");
    throw new PlanError(`The plan ${plan.id} was executed without its repositories' hooks: ${names}.`, {
      kept: "Nothing was changed, in any resource.",
      next: [nextStep("plan.apply", { plan: plan.id, verify: false }), nextStep("plan.rollback", { plan: plan.id })],
      detail: { skipped },
    });
  }
}
