/**
 * Lands the steps of a plan that works in place, one after another, each through its own journal: the intent and every
 * byte are durable before the first file moves, and the step, its changes and the end of its tool call are recorded in
 * the transaction that seals the journal. So at whichever moment it is killed, a step is in the files and recorded, or
 * neither; recovery is that of apply. The caller holds the kernel locks of the plan's resources.
 */
import type { Tell } from "../domain/run-event.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { operationBetween, type FileImage, type HashedEntryInput } from "../domain/plan/change-entry.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import type { IdGenerator } from "../domain/names/ids.ts";
import { stateHash, type FileState } from "../platform/file-state.ts";
import type { EndedStep } from "../execution/workspace/pending-changes.ts";
import { completeChangeset } from "../ledger/changesets.ts";
import { endInvocation } from "../ledger/invocations.ts";
import { assertHeld, type Lease } from "../ledger/leases.ts";
import { insertStep } from "../ledger/steps.ts";
import { commitContents, stageContent, type StagedContent } from "../store/contents/contents.ts";
import { Lane } from "../platform/lane.ts";
import type { Store, Tx } from "../store/port.ts";
import { missingDirectories } from "./git-landing.ts";
import type { FileEffects } from "./file-effects.ts";
import { insertJournal, markTidied, sealJournal, type Journal, type LandingStep } from "../ledger/journal.ts";
import { land, tidyUp, type Landed } from "./land.ts";
import { directoriesAbove, type FileMove, type Landing } from "../ledger/landing.ts";
import { ForeignChangeError } from "./settle.ts";
import { codeOf } from "./user-tree.ts";

export class StepLander {
  readonly #store: Store;
  readonly #lease: Lease<"execute">;
  readonly #effects: FileEffects;
  readonly #ids: IdGenerator;
  readonly #tell: Tell;
  /** One landing at a time: a plan has one unsealed journal, also when steps of one wave end together. */
  readonly #lane = new Lane();

  constructor(parts: {
    store: Store;
    lease: Lease<"execute">;
    effects: FileEffects;
    ids: IdGenerator;
    /** Told of files that were replaced while another program was still writing into them. */
    tell: Tell;
  }) {
    this.#store = parts.store;
    this.#lease = parts.lease;
    this.#effects = parts.effects;
    this.#ids = parts.ids;
    this.#tell = parts.tell;
  }

  async land(step: EndedStep): Promise<void> {
    await this.#lane.run(() => this.#land(step));
  }

  async #land(step: EndedStep): Promise<void> {
    const contents = new Map<string, Uint8Array>();
    const record = this.#recordOf(step, contents);
    const { where } = step;
    if (where === undefined) {
      await this.#store.transaction(async (tx) => {
        await assertHeld(tx, this.#lease);
        await recordDone(tx, this.#lease, record);
      });
      return;
    }
    const journal = await this.#journal(record, landingOf(where, step, record.entries), contents);
    const landed = await land(this.#store, journal, this.#effects, contents);
    await this.#store.transaction((tx) => sealStep(tx, journal, landed));
    await this.#tidy(journal);
    if (landed.direction === "back") throw notLandedError(this.#lease, where.root, landed);
  }

  #recordOf(step: EndedStep, contents: Map<string, Uint8Array>): LandingStep {
    const { key, result, changeset, invocation, decision, end, where } = step;
    const imageOf = (state: FileState | undefined): FileImage | undefined => {
      if (state === undefined) return undefined;
      const hash = stateHash(state);
      contents.set(hash, state.content);
      return { hash, mode: state.mode };
    };
    const resource = where?.alias ?? "";
    const credit = { toolInvocation: invocation, decision };
    const entries = step.changes.map(({ path, fromPath, operation, before, after }) => {
      const images = { before: imageOf(before), after: imageOf(after) };
      return { resource, path, ...(fromPath === undefined ? {} : { fromPath }), operation, ...images, ...credit };
    });
    const { attempt } = this.#lease.plan;
    const { epoch } = this.#lease;
    const { durationMs, resultSize } = end;
    return { attempt, key, epoch, result, changeset, invocation, durationMs, resultSize, entries };
  }

  async #journal(step: LandingStep, landing: Landing, contents: ReadonlyMap<string, Uint8Array>): Promise<StepJournal> {
    const staged: StagedContent[] = [];
    for (const [hash, content] of contents) staged.push(await stageContent(this.#store, content, hash));
    const { planId, holder } = this.#lease;
    const facts = {
      id: this.#ids(),
      planId,
      kind: "step",
      holder,
      undoneSteps: [],
      landings: [landing],
      step,
    } as const;
    const journal = await this.#store.transaction(async (tx) => {
      await assertHeld(tx, this.#lease);
      await commitContents(tx, staged);
      return insertJournal(tx, facts);
    });
    return { ...journal, kind: "step", step };
  }

  /** After the seal. A failure here is not one of the landing: the next command tidies up again. */
  async #tidy(journal: Journal): Promise<void> {
    try {
      const late = tidyUp(journal, this.#effects);
      await this.#store.transaction((tx) => markTidied(tx, journal.id));
      if (late.length > 0) this.#tell({ type: "kept_files", files: late });
    } catch {
      return;
    }
  }
}

export type StepJournal = Extract<Journal, { kind: "step" }>;

/**
 * The end of a step's landing: its changes, or its failure, are recorded in the transaction of the journal's outcome.
 */
export async function sealStep(tx: Tx, journal: StepJournal, landed: Landed): Promise<void> {
  const done = landed.direction === "forward";
  if (!(await sealJournal(tx, journal.id, done ? "done" : "undone", landed.kept))) return;
  const { step } = journal;
  if (done) return recordDone(tx, journal, step);
  await completeChangeset(tx, step.changeset, []);
  const error = landed.cause instanceof Error ? landed.cause.message : "It was interrupted and reversed.";
  await endInvocation(tx, step.invocation, { outcome: "failed", durationMs: step.durationMs, error });
}

async function recordDone(tx: Tx, { planId }: Pick<Journal, "planId">, step: LandingStep): Promise<void> {
  const { attempt, key, epoch, result, durationMs, resultSize } = step;
  await completeChangeset(tx, step.changeset, step.entries);
  await endInvocation(tx, step.invocation, { outcome: "ok", durationMs, resultSize });
  await insertStep(tx, { planId, phase: "execute", attempt, kind: "tool_call", key, epoch, result });
}

function landingOf(
  { alias, root }: { readonly alias: string; readonly root: string },
  { emptied }: Pick<EndedStep, "emptied">,
  entries: readonly HashedEntryInput[],
): Landing {
  const files: FileMove[] = entries.flatMap(({ path, fromPath, before, after }) => {
    if (fromPath === undefined) return [{ path, before, after }];
    return [
      { path: fromPath, before, after: undefined },
      { path, before: undefined, after },
    ];
  });
  const leaving = files.filter(({ before, after }) => operationBetween(before, after) === "delete");
  const goes = (directory: string): boolean =>
    emptied.some((above) => directory === above || directory.startsWith(`${above}/`));
  // A tool that deletes a file leaves the file's directory.
  const kept = new Set(leaving.flatMap(({ path }) => directoriesAbove(path)).filter((directory) => !goes(directory)));
  const newDirectories = missingDirectories(root, files);
  return { alias, root, git: undefined, files, newDirectories, keptDirectories: [...kept] };
}

function notLandedError({ planId }: Pick<Lease, "planId">, root: string, { cause, kept }: Landed): AgentsError {
  if (cause instanceof AgentsError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  const next = [nextStep("plan.execute", { plan: planId })];
  if (cause instanceof ForeignChangeError || codeOf(cause) === undefined) {
    const message = `Another program or person changed ${root} while the step was changing it: ${why}.`;
    const extras = { cause, next, detail: { path: root, kept } };
    return new AgentsError("merge_conflict", message, {
      ...extras,
      kept: "Their change is kept; the step changed nothing.",
    });
  }
  return new AgentsError("resource_failed", `The step could not change ${root}: ${why}.`, {
    cause,
    kept: "The step changed nothing.",
    next,
    detail: { path: root },
  });
}
