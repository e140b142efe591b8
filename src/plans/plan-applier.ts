import { join } from "node:path";
import { landingMessage } from "../apply/commit-message.ts";
import { HANDS, type Hands } from "../apply/hands.ts";
import {
  findUndoneSteps,
  insertJournal,
  isLanding,
  markTidied,
  type Journal,
  type JournalKind,
} from "../apply/journal.ts";
import { land, tidyUp } from "../apply/land.ts";
import { hasEffect, type Landing } from "../apply/landing.ts";
import { hasMoved, validateMerged, type Began } from "../apply/merged-validation.ts";
import { changedInPlace, requireRecorded } from "../apply/oracle.ts";
import { lockPlaces, prepareLandings, type PreparedLandings } from "../apply/prepare.ts";
import type { HeldChange } from "../apply/other-plans.ts";
import { withResourceLocks } from "../apply/resource-locks.ts";
import { mustBeApproved } from "../domain/automation-profile.ts";
import { PlanError, StaleLeaseError } from "../domain/errors.ts";
import type { PlanId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import { statusKey, type Phase } from "../domain/transitions.ts";
import { recordedCommitMessage } from "../execution/commit-message.ts";
import { recordedHooks } from "../execution/hooks.ts";
import { netChanges } from "../execution/net-changes.ts";
import { findSandboxRecords, type SandboxRecord } from "../execution/sandbox-record.ts";
import { standingChanges } from "../execution/standing-changes.ts";
import { planChanges, recordedSteps, type PlanChange } from "../execution/step-runner.ts";
import { validationGate } from "../execution/validation-gate.ts";
import { acquireLease, assertHeld, Lease, LEASE_TTL_MS } from "../ledger/leases.ts";
import { commitContents, stageContent, type StagedContent } from "../store/contents.ts";
import { findPlan } from "../store/plans.ts";
import { attachedValidations } from "../store/validations.ts";
import type { Reader, Store } from "../store/store.ts";
import {
  conflictError,
  constrained,
  interrupted,
  nothingToDo,
  notApplied,
  requireChanges,
  takenBack,
} from "./landing-errors.ts";
import { requireNotUndone, stoppedInPlace, type InPlace } from "./in-place.ts";
import { approveApply, requireApplyApproval } from "./apply-approval.ts";
import { landedOf } from "./landed.ts";
import { findOtherPlans, stepHistory } from "./other-plans.ts";
import type { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { lockDirectory } from "./plan-recovery.ts";
import { sealLanding } from "./seal.ts";
import {
  ambienceOf,
  defaultHolder,
  landing as landingConflict,
  permitted,
  type Ambience,
  type ServiceParts,
} from "./transition.ts";

/** Told what is being done, and whether that starts a program of the user's or the plan's. */
type OnProgress = (doing: string, runsCommand?: boolean) => void;

export interface ApplyOptions {
  /** Apply a plan that changed nothing. */
  readonly allowEmpty?: boolean;
  /** False: also when the repositories' own hooks were skipped. */
  readonly verify?: boolean;
  /** A person has just been asked and said yes: recorded as their approval where the plan's profile wants one. */
  readonly approved?: boolean;
  /** Told what is being done, in a few words. */
  readonly onProgress?: OnProgress;
  /** Stops it as long as nothing has been touched; from then on it ends in all of it or nothing anyway, within moments. */
  readonly signal?: AbortSignal;
}

export interface UndoOptions {
  /** Only the changes of these steps, which must include every later step on their paths; all unless given. */
  readonly steps?: ReadonlySet<string> | undefined;
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
}

export interface LandedPlan {
  readonly plan: Plan;
  /** Where the plan worked in place, so that its changes were there already. */
  readonly inPlace: readonly InPlace[];
  /** Of those, `alias/path` that somebody changed since: left as they are. */
  readonly changedSince: readonly string[];
  readonly landings: readonly Landing[];
  /** Of an undo, what stays because other plans that are still in made it too. */
  readonly held: readonly HeldChange[];
  /** Files that were moved aside while some program was still writing into them: they are kept where this says. */
  readonly kept: readonly string[];
}

interface Intent {
  readonly kind: JournalKind;
  readonly plan: Plan;
  readonly lease: Lease;
  readonly entries: readonly PlanChange[];
  readonly records: readonly SandboxRecord[];
  readonly from: ReadonlySet<string>;
  readonly to: ReadonlySet<string>;
  readonly applied: readonly Landing[] | undefined;
  readonly onProgress: OnProgress;
  readonly signal: AbortSignal | undefined;
}

/** What a person asks to take out or to bring back, of all there is. */
interface WantedChange {
  readonly kind: "undo" | "redo";
  readonly all: ReadonlySet<string>;
  readonly entries: readonly PlanChange[];
  readonly steps: ReadonlySet<string> | undefined;
}

const LOCK_PATIENCE_MS = 60_000;

/**
 * Lands what a plan did in the user's resources, takes it out again, and brings it back: on all resources or on none. Each of the
 * three is one journalled landing; they differ only in which steps' changes are in before and after.
 */
export class PlanApplier {
  readonly #store: Store;
  readonly #service: PlanLifecycleService;
  readonly #directory: string;
  readonly #ambience: Ambience;
  readonly #hands: Hands;

  /** `directory`: the data directory, with the kernel locks. */
  constructor(parts: ServiceParts & { service: PlanLifecycleService; directory: string; hands?: Hands }) {
    this.#store = parts.store;
    this.#service = parts.service;
    this.#directory = parts.directory;
    this.#ambience = ambienceOf(parts);
    this.#hands = parts.hands ?? HANDS;
  }

  async apply(planId: PlanId, options: ApplyOptions = {}): Promise<LandedPlan> {
    const plan = await this.#service.getPlan(planId);
    if (statusKey(plan) !== "apply/applied") requireNotUndone(plan);
    const entries = await this.#entriesOf(plan);
    if (statusKey(plan) === "execute/complete" || plan.phase === "apply") {
      requireChanges(plan, entries, options.allowEmpty === true);
      if (options.verify !== false) await this.#requireHooks(plan);
      if (statusKey(plan) !== "apply/applied") {
        if (options.approved === true && mustBeApproved(plan.profile))
          await approveApply(this.#store, this.#ambience, plan);
        await requireApplyApproval(this.#store, plan);
      }
    }
    if (statusKey(plan) !== "apply/queued" && statusKey(plan) !== "apply/processing") {
      await this.#service.applyPlan(plan.id, { expectedVersion: plan.version });
    }
    const lease = await this.#service.startApply(plan.id);
    await this.#requireValid(plan, lease);
    const steps = await this.#stepsOf(plan);
    const facts = {
      kind: "apply",
      plan,
      lease,
      entries,
      from: new Set<string>(),
      to: steps,
      applied: undefined,
    } as const;
    return this.#leased(lease, facts, options);
  }

  /** Takes the changes of an applied plan out again; what others did meanwhile stays. */
  async undo(planId: PlanId, options: UndoOptions = {}): Promise<LandedPlan> {
    return this.#change("undo", planId, options);
  }

  /** Brings everything that was taken out back in. */
  async redo(planId: PlanId, options: Pick<UndoOptions, "onProgress" | "signal"> = {}): Promise<LandedPlan> {
    return this.#change("redo", planId, options);
  }

  /** What it would do now, without doing it. */
  async preview(
    kind: JournalKind,
    planId: PlanId,
    options: Pick<UndoOptions, "steps"> = {},
  ): Promise<PreparedLandings> {
    const plan = await this.#service.getPlan(planId);
    const [entries, records, all] = [
      await this.#entriesOf(plan),
      await this.#recordsOf(plan),
      await this.#stepsOf(plan),
    ];
    const facts = { kind, plan, entries, records };
    if (kind === "apply") return this.#prepare({ ...facts, from: new Set(), to: all, applied: undefined });
    const wanted = { kind, all, entries, steps: options.steps };
    const { undone, applied } = await this.#store.read((reader) => this.#undoable(reader, plan, wanted));
    const to = without(all, taken(kind, all, undone, options.steps));
    return this.#prepare({ ...facts, from: without(all, undone), to, applied });
  }

  async #change(kind: "undo" | "redo", planId: PlanId, options: UndoOptions): Promise<LandedPlan> {
    const plan = await this.#service.getPlan(planId);
    const [all, entries] = [await this.#stepsOf(plan), await this.#entriesOf(plan)];
    const { lease, undone, applied } = await this.#takeApplied(plan, { kind, all, entries, steps: options.steps });
    const facts = {
      kind,
      plan,
      lease,
      entries,
      from: without(all, undone),
      to: without(all, taken(kind, all, undone, options.steps)),
      applied,
    };
    return this.#leased(lease, facts, options);
  }

  /** The lease of a plan whose changes are in its resources, if there is something to take out or bring back: checked and taken in one transaction. */
  async #takeApplied(
    plan: Plan,
    wanted: WantedChange,
  ): Promise<{ lease: Lease; undone: ReadonlySet<string>; applied: readonly Landing[] }> {
    const [holder, ttlMs] = [defaultHolder(), LEASE_TTL_MS];
    const found = await this.#store.transaction(async (tx) => {
      const { now, applied, undone } = await this.#undoable(tx, plan, wanted);
      const facts = await acquireLease(tx, { planId: plan.id, phase: now.phase, holder, ttlMs });
      return { facts, undone, applied, now };
    });
    const { now, facts } = found;
    const lease = new Lease<Phase>({ store: this.#store, plan: now, phase: now.phase, facts, ttlMs });
    return { lease, undone: found.undone, applied: found.applied };
  }

  async #undoable(
    reader: Reader,
    plan: Plan,
    { kind, all, entries, steps }: WantedChange,
  ): Promise<{ now: Plan; undone: ReadonlySet<string>; applied: readonly Landing[] }> {
    const now = await findPlan(reader, plan.id);
    const applied = now === undefined ? undefined : await landedOf(reader, now, entries);
    if (now === undefined || applied === undefined) throw notApplied(now ?? plan, kind);
    // A part that is out of a plan that goes on would be built upon by its next steps.
    if (steps !== undefined && statusKey(now) !== "apply/applied") throw notApplied(now, kind);
    if (await isLanding(reader, plan.id)) throw landingConflict(plan);
    const undone = new Set(await findUndoneSteps(reader, plan.id));
    const open = kind === "redo" ? undone : without(steps ?? all, undone);
    const sides = { entries, from: without(all, undone), to: without(all, taken(kind, all, undone, steps)) };
    // A plan without any change can be undone as a whole, as it could be applied.
    const idle = entries.length > 0 && movingEntries(sides).length === 0;
    if (open.size === 0 || idle) throw nothingToDo(plan, kind, steps);
    return { now, undone, applied };
  }

  /** Runs the landing under the lease; a failure before the journal leaves the plan where a person can go on from. */
  async #leased(
    lease: Lease,
    facts: Omit<Intent, "records" | "onProgress" | "signal">,
    { onProgress = () => undefined, signal }: Pick<ApplyOptions, "onProgress" | "signal">,
  ): Promise<LandedPlan> {
    try {
      const records = await this.#recordsOf(facts.plan);
      const intent = { ...facts, records, onProgress, signal };
      return await withResourceLocks(
        lockDirectory(this.#directory),
        await lockPlaces(records),
        () => this.#land(intent),
        {
          patienceMs: LOCK_PATIENCE_MS,
        },
      );
    } catch (error) {
      if (error instanceof StaleLeaseError || (await this.#store.read((reader) => isLanding(reader, lease.planId)))) {
        lease.stop();
        throw error;
      }
      if (signal?.aborted === true) {
        await lease.release();
        throw interrupted(facts.plan, facts.kind);
      }
      const message = error instanceof Error ? error.message : String(error);
      const open = isApply(lease) && facts.kind === "apply" && (await this.#isProcessing(lease.planId));
      if (open) await this.#service.failApply(lease, { message, category: "transient" });
      else await lease.release();
      throw error;
    }
  }

  async #isProcessing(planId: PlanId): Promise<boolean> {
    const plan = await this.#store.read((reader) => findPlan(reader, planId));
    return plan !== undefined && statusKey(plan) === "apply/processing";
  }

  async #land(intent: Intent): Promise<LandedPlan> {
    const { plan, kind, lease, onProgress } = intent;
    onProgress("merging");
    const prepared = await this.#prepareRecorded(intent);
    intent.signal?.throwIfAborted();
    if (prepared.conflicts.length > 0) throw conflictError(plan, kind, prepared.conflicts);
    const landings = prepared.landings.filter(hasEffect);
    if (kind === "apply") await this.#validateMerged(intent, landings, prepared.contents);
    const journal = await this.#journal(intent, landings, prepared.contents);
    onProgress("landing");
    const landed = await land(this.#store, journal, this.#hands, prepared.contents);
    lease.stop();
    const sealed = await sealLanding({ store: this.#store, ambience: this.#ambience }, journal, landed);
    const late = await this.#tidy(journal);
    if (landed.direction === "back") throw takenBack(plan, kind, landed.cause, landed.kept);
    const inPlace = intent.records.filter(({ strategy }) => strategy === "none");
    const changedSince = kind === "apply" ? changedInPlace(inPlace, intent.entries) : [];
    const held = kind === "undo" ? prepared.held : [];
    return { plan: sealed, landings, held, kept: late, inPlace, changedSince };
  }

  /** What is about to land is not what was validated, if the target moved since: then it is validated as it will be. */
  async #validateMerged(
    intent: Intent,
    landings: readonly Landing[],
    contents: ReadonlyMap<string, Uint8Array>,
  ): Promise<void> {
    const { plan, lease, records, entries, onProgress } = intent;
    const validations = await this.#store.read((reader) => attachedValidations(reader, plan));
    const own = [...Map.groupBy(entries, ({ resource }) => resource)];
    const net = new Map(own.map(([alias, changes]) => [alias, netChanges(changes)]));
    const began: Began = (alias, path) => net.get(alias)?.get(path)?.before?.hash;
    if (validations.length === 0 || !hasMoved(records, landings, began)) return;
    const signal = AbortSignal.any([lease.signal, ...(intent.signal === undefined ? [] : [intent.signal])]);
    await validateMerged({
      lease,
      records,
      landings,
      contents,
      validations,
      signal,
      directory: join(this.#directory, "sandboxes"),
      onStart: ({ validation, resource }) =>
        onProgress(`validating ${validation.name} on the merged ${resource}`, validation.check.kind === "command"),
      onResult: () => undefined,
    });
    if (isApply(lease)) await this.#requireValid(plan, lease);
  }

  /** Whoever skipped the hooks of a repository says so again before it lands there. */
  async #requireHooks(plan: Plan): Promise<void> {
    const skipped = (await recordedHooks(this.#store, plan)).filter((hook) => hook.skipped);
    if (skipped.length === 0) return;
    const names = skipped.map(({ resource, hook }) => `${hook} (${resource})`).join(", ");
    throw new PlanError(`The plan ${plan.id} was executed without its repositories' hooks: ${names}.`, {
      kept: "Nothing was changed, in any resource.",
      next: [`agents plan apply ${plan.id} --no-verify`, `agents plan rollback ${plan.id}`],
      detail: { skipped },
    });
  }

  async #requireValid(plan: Plan, lease: Lease<"apply">): Promise<void> {
    const gate = await validationGate(this.#store, plan);
    if (gate.ok) return;
    await this.#service.constrainApply(lease, { message: gate.why });
    throw await stoppedInPlace(this.#store, constrained(plan, gate), plan);
  }

  /** It is sealed: what cannot be tidied up now does not make it a failure, and the next command tries again and says why not. */
  async #tidy(journal: Journal): Promise<string[]> {
    try {
      const late = tidyUp(journal, this.#hands);
      await this.#store.transaction((tx) => markTidied(tx, journal.id));
      return late;
    } catch {
      return [];
    }
  }

  /**
   * Only what was recorded lands, and it is worked out while that is being checked: neither touches anything of the user's. Under the
   * lease, because two who look at one sandbox at once would be in each other's way.
   */
  async #prepareRecorded(intent: Intent): Promise<PreparedLandings> {
    const { kind, plan, entries } = intent;
    const [recorded, prepared] = await Promise.allSettled([
      kind === "apply" ? requireRecorded(join(this.#directory, "sandboxes"), plan, entries) : undefined,
      this.#prepare(intent),
    ]);
    if (recorded.status === "rejected") throw recorded.reason;
    if (prepared.status === "rejected") throw prepared.reason;
    return prepared.value;
  }

  async #prepare(intent: Omit<Intent, "lease" | "onProgress" | "signal">): Promise<PreparedLandings> {
    const { kind, plan } = intent;
    const moving = movingEntries(intent);
    const changesets = [...new Set(moving.map((entry) => entry.changesetId))];
    const decisions = decisionsOf(moving);
    const messages = new Map<string, string>();
    for (const { alias } of intent.records) {
      const message = await recordedCommitMessage(this.#store, plan, alias);
      messages.set(alias, landingMessage(kind, plan, { changesets, decisions, message }));
    }
    // What was worked on in place is there already.
    const records = intent.records.filter(({ strategy }) => kind !== "apply" || strategy !== "none");
    const store = this.#store;
    const others = kind === "apply" ? new Map() : await findOtherPlans(store, plan, intent.records, intent.entries);
    const history = kind === "apply" ? [] : await store.read((reader) => stepHistory(reader, plan.id, intent.entries));
    return prepareLandings({
      ...intent,
      records,
      others,
      history,
      store,
      messageFor: (alias) => messages.get(alias) ?? "",
    });
  }

  /** Durable before the first file moves, with every byte it speaks of. */
  async #journal(
    intent: Intent,
    landings: readonly Landing[],
    contents: ReadonlyMap<string, Uint8Array>,
  ): Promise<Journal> {
    const { plan, kind, lease } = intent;
    const staged: StagedContent[] = [];
    for (const [hash, content] of contents) staged.push(await stageContent(this.#store, content, hash));
    const id = this.#ambience.ids();
    const all = await this.#stepsOf(plan);
    const undoneSteps = kind === "apply" ? [] : [...without(all, intent.to)].sort();
    const journal = { id, planId: plan.id, kind, holder: lease.holder, undoneSteps, landings };
    return this.#store.transaction(async (tx) => {
      await assertHeld(tx, lease);
      // A plan that is not applied can be sent on while somebody waits for the locks to undo it.
      if (kind !== "apply")
        permitted((await findPlan(tx, plan.id)) ?? plan, {
          operation: `${kind}Plan`,
          expectedVersion: lease.plan.version,
        });
      await commitContents(tx, staged);
      return insertJournal(tx, journal);
    });
  }

  #entriesOf(plan: Plan): Promise<PlanChange[]> {
    return planChanges(this.#store, plan.id, plan.attempt);
  }

  #recordsOf(plan: Plan): Promise<SandboxRecord[]> {
    return this.#store.read((reader) => findSandboxRecords(reader, plan.id, plan.attempt));
  }

  async #stepsOf(plan: Plan): Promise<Set<string>> {
    return new Set((await recordedSteps(this.#store, plan.id, plan.attempt)).keys());
  }
}

function isApply(lease: Lease): lease is Lease<"apply"> {
  return lease.phase === "apply";
}

/** The steps that are out once it is done. */
function taken(
  kind: "undo" | "redo",
  all: ReadonlySet<string>,
  undone: ReadonlySet<string>,
  steps: ReadonlySet<string> | undefined,
): Set<string> {
  return kind === "redo" ? new Set() : new Set([...undone, ...(steps ?? all)]);
}

function without(all: ReadonlySet<string>, some: ReadonlySet<string>): Set<string> {
  return new Set([...all].filter((one) => !some.has(one)));
}

/** The changes that come or go. */
function movingEntries({ entries, from, to }: Pick<Intent, "entries" | "from" | "to">): PlanChange[] {
  const [before, after] = [new Set(standingChanges(entries, from)), new Set(standingChanges(entries, to))];
  return entries.filter((entry) => before.has(entry) !== after.has(entry));
}

function decisionsOf(entries: readonly PlanChange[]): string[] {
  return [...new Set(entries.flatMap((entry) => entry.decision ?? []))];
}
