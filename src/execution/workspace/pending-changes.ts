/**
 * The changes that tool calls in place are about to make. Each call collects them in memory under the step that makes
 * it; when the call has ended, they are written through the journal that apply uses, all of them or none, and
 * recorded together with the step.
 */
import type { ChangesetId, DecisionId, InvocationId } from "../../domain/names/ids.ts";
import type { ChangeOperation } from "../../domain/plan/change-entry.ts";
import type { InvocationEnd } from "../../domain/plan/decision.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import type { FileState } from "../../platform/file-state.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

export interface PendingChange {
  readonly path: string;
  readonly fromPath?: string;
  readonly operation: ChangeOperation;
  readonly before: FileState | undefined;
  readonly after: FileState | undefined;
}

export interface PendingChanges {
  readonly changes: readonly PendingChange[];
  /** Directories that are removed together with the last file in them. */
  readonly emptied: readonly string[];
}

interface PendingCall {
  readonly changes: PendingChange[];
  readonly emptied: string[];
}

export class PendingCalls {
  readonly #calls = new Map<string, PendingCall>();

  of(by: string): PendingCall {
    const pending = this.#calls.get(by) ?? { changes: [], emptied: [] };
    this.#calls.set(by, pending);
    return pending;
  }

  has(by: string): boolean {
    return (this.#calls.get(by)?.changes.length ?? 0) > 0;
  }

  /** Forgets what a call that failed was about to change. */
  drop(by: string): void {
    this.#calls.delete(by);
  }
}

/** A step that has ended, with its pending changes: recorded together with its effect, or not at all. */
export interface EndedStep extends PendingChanges {
  readonly key: string;
  readonly result: JsonObject;
  readonly changeset: ChangesetId;
  readonly invocation: InvocationId;
  readonly decision: DecisionId;
  readonly end: Extract<InvocationEnd, { outcome: "ok" }>;
  /** The directory that it changes; undefined when it changes nothing. */
  readonly where: Pick<Sandbox, "alias" | "root"> | undefined;
}

export type LandStep = (step: EndedStep) => Promise<void>;
