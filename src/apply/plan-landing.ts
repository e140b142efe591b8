/**
 * Carries one landing out under the plan's lease and the kernel locks of its resources: merge, validate again what
 * moved, write the journal, change the resources, seal. A failure before the journal leaves the plan in a state from
 * which a person can continue; after it, the landing ends in all of it or in nothing.
 */
import type { DataDirectory } from "../platform/data-directory.ts";
import { worksInPlace } from "../domain/resource/resource.ts";
import { landingMessage } from "./landing-message.ts";
import type { FileEffects } from "./file-effects.ts";
import { insertJournal, isLanding, markTidied, type Journal } from "../ledger/journal.ts";
import { land, tidyUp } from "./land.ts";
import { hasEffect, type Landing } from "../ledger/landing.ts";
import { movingEntries, type LandingPlan } from "./landing-plan.ts";
import { hasMoved, validateMerged, type Began } from "./merged-validation.ts";
import type { PartialLanding } from "./partial-landing.ts";
import { changedInPlace, requireRecorded } from "./require-recorded.ts";
import type { HeldChange } from "./shared-worlds.ts";
import { lockPlaces, prepareLandings, type PreparedLandings } from "./prepare-landings.ts";
import { withResourceLocks } from "./resource-locks.ts";
import { StaleLeaseError } from "../domain/errors/errors.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { tellNothing, type Tell } from "../domain/run-event.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { statusKey } from "../domain/plan/transitions.ts";
import { recordedCommitMessage } from "../changes/commit-message.ts";
import { targetChanges } from "../changes/net-changes.ts";
import { findSandboxRecords, type SandboxRecord } from "../ledger/sandbox-records.ts";
import { isResolveStep, isReviewStep, planChanges, recordedSteps, type PlanChange } from "../changes/plan-changes.ts";
import { validationGate } from "../execution/checks/validation-gate.ts";
import { assertHeld, type Lease } from "../ledger/leases.ts";
import { assertReviewed } from "../ledger/reviews.ts";
import { commitContents, stageContent, type StagedContent } from "../store/contents/contents.ts";
import { findPlan } from "../store/tables/plans.ts";
import type { Store } from "../store/port.ts";
import { attachedValidations } from "../store/tables/validations.ts";
import { stoppedInPlaceError, type InPlace } from "../plans/in-place-rules.ts";
import { conflictError, constrainedError, interruptedError, reversedError } from "./landing-errors.ts";
import { landedOn } from "./landed-changes.ts";
import { findOtherPlans, stepHistory } from "./find-other-plans.ts";
import type { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { sealLanding } from "./seal.ts";
import { permitted, type RecordSource } from "../plans/transition.ts";
import { stepsWithout } from "./undo-redo.ts";

export interface LandingOptions {
  /** Told what is being done. */
  readonly tell?: Tell;
  /**
   * Stops it as long as nothing has been touched; from then on it ends in all of it or nothing anyway, within moments.
   */
  readonly signal?: AbortSignal;
}

export interface LandedPlan {
  readonly plan: Plan;
  /** Where the plan worked in place, so that its changes were there already. */
  readonly inPlace: readonly InPlace[];
  /** Of those, `alias/path` that a person or another program changed since: left as they are. */
  readonly changedSince: readonly string[];
  readonly landings: readonly Landing[];
  /** Changes that an undo leaves in place because other applied plans made them too. */
  readonly held: readonly HeldChange[];
  /** Files that were moved aside while some program was still writing into them: they are kept where this says. */
  readonly kept: readonly string[];
}

/** The sides of a landing; `part` where only some of the plan's changes are applied. */
export type WantedLanding = Omit<LandingPlan, "records"> & { readonly part?: PartialLanding | undefined };

/** A landing on its way. */
interface RunningLanding extends LandingPlan {
  readonly part?: PartialLanding | undefined;
  readonly lease: Lease;
  readonly tell: Tell;
  readonly signal: AbortSignal | undefined;
}

const LOCK_PATIENCE_MS = 60_000;

export class PlanLanding {
  readonly #store: Store;
  readonly #service: PlanLifecycleService;
  readonly #data: DataDirectory;
  readonly #recordSource: RecordSource;
  readonly #effects: FileEffects;

  constructor(parts: {
    store: Store;
    service: PlanLifecycleService;
    data: DataDirectory;
    recordSource: RecordSource;
    effects: FileEffects;
  }) {
    this.#store = parts.store;
    this.#service = parts.service;
    this.#data = parts.data;
    this.#recordSource = parts.recordSource;
    this.#effects = parts.effects;
  }

  async run(lease: Lease, facts: WantedLanding, { tell = tellNothing, signal }: LandingOptions): Promise<LandedPlan> {
    try {
      const records = await recordsOf(this.#store, facts.plan);
      const landing = { ...facts, records, lease, tell, signal };
      const places = await lockPlaces(records);
      return await withResourceLocks(this.#data.locks, places, () => this.#land(landing), {
        patienceMs: LOCK_PATIENCE_MS,
      });
    } catch (error) {
      throw await this.#stopped(lease, facts, { error, isInterrupted: signal?.aborted === true });
    }
  }

  /** Ends the lease of a landing that failed, or leaves it to recovery. The error to throw. */
  async #stopped(
    lease: Lease,
    { kind, plan }: Pick<LandingPlan, "kind" | "plan">,
    { error, isInterrupted }: { readonly error: unknown; readonly isInterrupted: boolean },
  ): Promise<unknown> {
    if (error instanceof StaleLeaseError || (await this.#store.read((reader) => isLanding(reader, lease.planId)))) {
      lease.stop();
      return error;
    }
    if (isInterrupted) {
      await lease.release();
      return interruptedError(plan, kind);
    }
    const message = error instanceof Error ? error.message : String(error);
    const open = isApply(lease) && kind === "apply" && (await this.#isProcessing(lease.planId));
    if (open) await this.#service.failApply(lease, { message, category: "transient" });
    else await lease.release();
    return error;
  }

  async #isProcessing(planId: PlanId): Promise<boolean> {
    const plan = await this.#store.read((reader) => findPlan(reader, planId));
    return plan !== undefined && statusKey(plan) === "apply/processing";
  }

  async #land(landing: RunningLanding): Promise<LandedPlan> {
    const { plan, kind, lease, tell } = landing;
    tell({ type: "landing", kind, event: "merging" });
    const prepared = await this.#prepareRecorded(landing);
    landing.signal?.throwIfAborted();
    if (prepared.conflicts.length > 0) throw conflictError(plan, kind, prepared.conflicts);
    const landings = prepared.landings.filter(hasEffect);
    if (kind === "apply") await this.#validateMerged(landing, landings, prepared.contents);
    const journal = await this.#journal(landing, landings, prepared.contents);
    tell({ type: "landing", kind, event: "landing" });
    const landed = await land(this.#store, journal, this.#effects, prepared.contents);
    lease.stop();
    const sealed = await sealLanding({ store: this.#store, recordSource: this.#recordSource }, journal, landed);
    const late = await this.#tidy(journal);
    if (landed.direction === "back") throw reversedError(plan, kind, landed.cause, landed.kept);
    const inPlace = landing.records.filter(worksInPlace);
    const changedSince = kind === "apply" ? changedInPlace(inPlace, landing.entries) : [];
    const held = kind === "undo" ? prepared.held : [];
    return { plan: sealed, landings, held, kept: late, inPlace, changedSince };
  }

  /**
   * If the target moved since, the merged files are not those that were validated: then they are validated as they will
   * be.
   */
  async #validateMerged(
    landing: RunningLanding,
    landings: readonly Landing[],
    contents: ReadonlyMap<string, Uint8Array>,
  ): Promise<void> {
    const { plan, lease, records, entries, tell } = landing;
    const validations = await this.#store.read((reader) => attachedValidations(reader, plan));
    const own = [...Map.groupBy(entries, ({ resource }) => resource)];
    const net = new Map(own.map(([alias, changes]) => [alias, targetChanges(changes)]));
    const began: Began = (alias, path) => net.get(alias)?.get(path)?.before?.hash;
    // A part of the result is not the result that was validated, and neither is one that was merged by hand.
    const isWhole = landing.part === undefined && !entries.some(({ step }) => isResolveStep(step));
    const isValidated = isWhole && !hasMoved(records, landings, began);
    if (validations.length === 0 || isValidated) return;
    const signal = AbortSignal.any([lease.signal, ...(landing.signal === undefined ? [] : [landing.signal])]);
    await validateMerged({
      lease,
      records,
      landings,
      contents,
      validations,
      signal,
      directory: this.#data.sandboxes,
      tell,
    });
    if (isApply(lease)) await this.requireValid(plan, lease);
  }

  /** Constrains a plan whose validations do not allow it to be applied. */
  async requireValid(plan: Plan, lease: Lease<"apply">): Promise<void> {
    const gate = await validationGate(this.#store, plan);
    if (gate.ok) return;
    await this.#service.constrainApply(lease, { message: gate.why });
    throw await stoppedInPlaceError(this.#store, constrainedError(plan, gate), plan);
  }

  /**
   * After the seal. A failure here is not one of the landing: the next command tidies up again and says what is in the
   * way.
   */
  async #tidy(journal: Journal): Promise<string[]> {
    try {
      const late = tidyUp(journal, this.#effects);
      await this.#store.transaction((tx) => markTidied(tx, journal.id));
      return late;
    } catch {
      return [];
    }
  }

  /**
   * Only recorded changes land. The merge is worked out while the sandbox is compared with the record: neither touches
   * anything of the user's. Under the lease, because two processes that compare one sandbox at once would disturb each
   * other.
   */
  async #prepareRecorded(landing: RunningLanding): Promise<PreparedLandings> {
    const { kind, plan } = landing;
    // The sandbox holds the whole result.
    const entries = landing.entries.filter(({ step }) => !isReviewStep(step));
    const [recorded, prepared] = await Promise.allSettled([
      kind === "apply" ? requireRecorded(this.#store, this.#data.sandboxes, plan, entries) : undefined,
      this.prepare(landing),
    ]);
    if (recorded.status === "rejected") throw recorded.reason;
    if (prepared.status === "rejected") throw prepared.reason;
    return prepared.value;
  }

  /** Works the merge out, without touching anything of the user's. */
  async prepare(landing: LandingPlan & Pick<WantedLanding, "part">): Promise<PreparedLandings> {
    const { kind, plan } = landing;
    const moving = movingEntries(landing);
    const changesets = [...new Set(moving.map((entry) => entry.changesetId))];
    // A decision of which nothing is taken is not one that is applied.
    const decisions = decisionsOf(moving).filter((one) => landing.part?.decisions.has(one) !== false);
    const messages = new Map<string, string>();
    for (const { alias } of landing.records) {
      const message = await recordedCommitMessage(this.#store, plan, alias);
      messages.set(alias, landingMessage(kind, plan, { changesets, decisions, message }));
    }
    // Changes that were made in place are there already.
    const { applied } = landing;
    const records =
      applied === undefined
        ? landing.records.filter((record) => !worksInPlace(record))
        : landing.records.map((record) => landedOn(record, applied));
    const store = this.#store;
    const others = kind === "apply" ? new Map() : await findOtherPlans(store, plan, records, landing.entries);
    const history = kind === "apply" ? [] : await store.read((reader) => stepHistory(reader, plan.id, landing.entries));
    return prepareLandings({
      ...landing,
      records,
      others,
      history,
      store,
      messageFor: (alias) => messages.get(alias) ?? "",
    });
  }

  /** The journal and every byte that it refers to are durable before the first file moves. */
  async #journal(
    landing: RunningLanding,
    landings: readonly Landing[],
    contents: ReadonlyMap<string, Uint8Array>,
  ): Promise<Journal> {
    const { plan, kind, lease } = landing;
    const staged: StagedContent[] = [];
    for (const [hash, content] of contents) staged.push(await stageContent(this.#store, content, hash));
    const id = this.#recordSource.ids();
    const all = await stepsOf(this.#store, plan);
    const undoneSteps = kind === "apply" ? [] : [...stepsWithout(all, landing.to)].sort();
    const { part } = landing;
    const journal = { id, planId: plan.id, kind, holder: lease.holder, undoneSteps, landings, review: part?.review };
    return this.#store.transaction(async (tx) => {
      await assertHeld(tx, lease);
      // Another process may move a plan that is not applied while this one waits for the locks to undo it.
      if (kind !== "apply")
        permitted((await findPlan(tx, plan.id)) ?? plan, {
          operation: `${kind}Plan`,
          expectedVersion: lease.plan.version,
        });
      if (part !== undefined) await assertReviewed(tx, plan.id, part.revision);
      await commitContents(tx, staged);
      return insertJournal(tx, journal);
    });
  }
}

export function entriesOf(store: Store, plan: Plan): Promise<PlanChange[]> {
  return planChanges(store, plan.id, plan.attempt);
}

export function recordsOf(store: Store, plan: Plan): Promise<SandboxRecord[]> {
  return store.read((reader) => findSandboxRecords(reader, plan.id, plan.attempt));
}

export async function stepsOf(store: Store, plan: Plan): Promise<Set<string>> {
  return new Set((await recordedSteps(store, plan.id, plan.attempt)).keys());
}

function isApply(lease: Lease): lease is Lease<"apply"> {
  return lease.phase === "apply";
}

function decisionsOf(entries: readonly PlanChange[]): string[] {
  return [...new Set(entries.flatMap((entry) => entry.decision ?? []))];
}
