import { AsyncLocalStorage } from "node:async_hooks";
import type { ChangeEntry, ChangeEntryInput } from "../../domain/plan/change-entry.ts";
import type { InvocationEnd } from "../../domain/plan/decision.ts";
import { PlanError, StaleLeaseError } from "../../domain/errors/errors.ts";
import {
  monotonicIds,
  type ChangesetId,
  type IdGenerator,
  type InvocationId,
  type PlanId,
} from "../../domain/names/ids.ts";
import { ChangesetStore } from "../../ledger/changesets.ts";
import type { CallStart } from "../../ledger/invocations.ts";
import type { Lease } from "../../ledger/leases.ts";
import { maskedJson } from "../../platform/masking.ts";
import { inLane } from "../../store/in-lane.ts";
import type { Store } from "../../store/port.ts";

/**
 * Records the changes of a plan while it executes. Scope is explicit: `startChangeset()` returns a handle that owns
 * `record()` and `close()`, and only `run(changeset, fn)` binds one for the code below it. There is no "latest
 * changeset": an entry whose scope is not certain is refused with `PlanError` and never filed under another one.
 *
 * ```ts
 * const context = new PlanExecutionContext({ store, plan, lease });
 * const changeset = await context.startChangeset();
 * await context.run(changeset, async () => {
 *   await context.recordChange({ resource: "api", path: "README.md", operation: "create", after });
 * });
 * await changeset.close();
 * ```
 */
export class PlanExecutionContext {
  readonly #ids: IdGenerator;
  readonly #changesets: ChangesetStore;
  readonly #planId: PlanId;
  readonly #epoch: number | undefined;
  readonly #scope = new AsyncLocalStorage<ChangesetHandle>();
  readonly #open = new Map<ChangesetId, ChangesetHandle>();
  #pendingStarts = 0;

  constructor(parts: { store: Store; plan: PlanId | { readonly id: PlanId }; lease?: Lease; ids?: IdGenerator }) {
    this.#ids = parts.ids ?? monotonicIds();
    this.#planId = typeof parts.plan === "string" ? parts.plan : parts.plan.id;
    this.#changesets = new ChangesetStore(inLane(parts.store, this.#planId), this.#ids);
    this.#epoch = parts.lease?.epoch;
    if (parts.lease !== undefined && parts.lease.planId !== this.#planId) {
      throw new PlanError(`The lease is for plan ${parts.lease.planId}, not for ${this.#planId}.`);
    }
  }

  /** With `call`, the changeset is what one tool call does: every entry is credited to it and to its decision. */
  async startChangeset(call?: Omit<CallStart, "id">): Promise<ChangesetHandle> {
    this.#pendingStarts += 1;
    try {
      const begun =
        call === undefined
          ? undefined
          : { ...call, params: maskedJson(call.params).value, id: this.#ids() as InvocationId };
      const id = await this.#changesets.start(this.#planId, this.#epoch, begun);
      const handle = new ChangesetHandle(this.#changesets, id, this.#epoch, () => this.#open.delete(id), begun);
      this.#open.set(id, handle);
      return handle;
    } finally {
      this.#pendingStarts -= 1;
    }
  }

  /** Runs `fn` with `changeset` bound: `recordChange` below it, across every `await`, goes there and nowhere else. */
  run<T>(changeset: ChangesetHandle, fn: () => T): T {
    if (this.#open.get(changeset.id) !== changeset) {
      throw new PlanError(`The changeset ${changeset.id} is not open in this context.`, {
        detail: { changeset_id: changeset.id },
      });
    }
    return this.#scope.run(changeset, fn);
  }

  /**
   * Records into the bound changeset; outside any `run`, into the only open one, if there can be no doubt which that
   * is.
   */
  async recordChange(entry: ChangeEntryInput): Promise<ChangeEntry> {
    return this.#current().record(entry);
  }

  /** Records several at once, in this order, all or none of them. */
  async recordChanges(entries: readonly ChangeEntryInput[]): Promise<ChangeEntry[]> {
    return this.#current().recordAll(entries);
  }

  /** The open changesets, in the order in which they were started. */
  activeChangesets(): ChangesetId[] {
    return [...this.#open.keys()];
  }

  /**
   * Joins a changeset from another thread: hand over the store's url, the id and the epoch, and record into just that
   * one.
   */
  static attach(parts: { store: Store; changesetId: ChangesetId; epoch: number | undefined }): ChangesetHandle {
    return new ChangesetHandle(
      new ChangesetStore(inLane(parts.store, parts.changesetId)),
      parts.changesetId,
      parts.epoch,
      () => undefined,
    );
  }

  #current(): ChangesetHandle {
    const bound = this.#scope.getStore();
    if (bound !== undefined) return bound;
    const [only, another] = this.#open.values();
    if (only === undefined && this.#pendingStarts === 0) {
      throw new PlanError("No changeset is open. Call startChangeset() first.");
    }
    if (only === undefined || another !== undefined || this.#pendingStarts > 0) {
      const candidates = this.activeChangesets();
      const pending = this.#pendingStarts === 0 ? "" : `, and ${this.#pendingStarts} being started`;
      throw new PlanError(
        `It is not certain which changeset this change belongs to (open: ${candidates.join(", ") || "none"}${pending}). ` +
          "Record it through a changeset's handle or inside run().",
        { detail: { candidates, pending_starts: this.#pendingStarts } },
      );
    }
    return only;
  }
}

/** One changeset, open until `close()`. Recording after that is refused, also when the two race. */
export class ChangesetHandle {
  readonly id: ChangesetId;
  readonly epoch: number | undefined;
  readonly #changesets: ChangesetStore;
  readonly #onClosed: () => void;
  /** The call that its entries are credited to, also when they name another. */
  readonly #credit: Pick<ChangeEntryInput, "toolInvocation" | "decision">;
  /** The tool call it was opened for. */
  readonly call: Pick<CallStart, "id" | "decision"> | undefined;
  #closing: Promise<void> | undefined;
  #hasEntries = false;

  constructor(
    changesets: ChangesetStore,
    id: ChangesetId,
    epoch: number | undefined,
    onClosed: () => void,
    call?: Pick<CallStart, "id" | "decision">,
  ) {
    this.id = id;
    this.epoch = epoch;
    this.call = call;
    this.#credit = call === undefined ? {} : { toolInvocation: call.id, decision: call.decision };
    this.#changesets = changesets;
    this.#onClosed = onClosed;
  }

  /** Whether a change was recorded through this handle. */
  get hasEntries(): boolean {
    return this.#hasEntries;
  }

  async record(entry: ChangeEntryInput): Promise<ChangeEntry> {
    this.#assertOpen();
    this.#hasEntries = true;
    return this.#changesets.record(this.id, { ...entry, ...this.#credit }, this.epoch);
  }

  async recordAll(entries: readonly ChangeEntryInput[]): Promise<ChangeEntry[]> {
    this.#assertOpen();
    this.#hasEntries ||= entries.length > 0;
    const credited = entries.map((entry) => ({ ...entry, ...this.#credit }));
    return this.#changesets.recordAll(this.id, credited, this.epoch);
  }

  #assertOpen(): void {
    if (this.#closing === undefined) return;
    throw new PlanError(`The changeset ${this.id} is closed.`, { detail: { changeset_id: this.id } });
  }

  /**
   * Closing twice is harmless; when the store fails the changeset stays open and can be closed again. `end`: how its
   * tool call ended.
   */
  close(end?: InvocationEnd): Promise<void> {
    this.#closing ??= this.#close(end);
    return this.#closing;
  }

  /** It was closed in the store together with what it was opened for; here it is let go. */
  closedElsewhere(): void {
    this.#closing = Promise.resolve();
    this.#onClosed();
  }

  async #close(end: InvocationEnd | undefined): Promise<void> {
    try {
      const call = this.#credit.toolInvocation as InvocationId | undefined;
      const ended = end === undefined || call === undefined ? undefined : { ...end, id: call };
      await this.#changesets.close(this.id, this.epoch, ended);
      this.#onClosed();
    } catch (error) {
      // Under a lost lease, or once another process closed it, nothing can be recorded any more: this process drops
      // the changeset as it is.
      if (error instanceof StaleLeaseError || error instanceof PlanError) this.#onClosed();
      else this.#closing = undefined;
      throw error;
    }
  }
}
