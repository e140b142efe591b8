import { operationBetween, type FileImage, type HashedEntryInput } from "../domain/change-entry.ts";
import { AgentsError } from "../domain/errors.ts";
import type { IdGenerator } from "../domain/ids.ts";
import { stateHash, type FileState } from "../execution/file-state.ts";
import type { EndedStep } from "../execution/in-place.ts";
import { completeChangeset } from "../ledger/changesets.ts";
import { endInvocation } from "../ledger/invocations.ts";
import { assertHeld, type Lease } from "../ledger/leases.ts";
import { insertStep } from "../ledger/steps.ts";
import { commitContents, stageContent, type StagedContent } from "../store/contents.ts";
import { Lane } from "../store/lane.ts";
import type { Store, Tx } from "../store/store.ts";
import { missingDirectories } from "./git-landing.ts";
import type { Hands } from "./hands.ts";
import { insertJournal, markTidied, sealJournal, type Journal, type LandingStep } from "./journal.ts";
import { land, tidyUp, type Landed } from "./land.ts";
import { directoriesAbove, type FileMove, type Landing } from "./landing.ts";
import { ForeignChangeError } from "./settle.ts";
import { codeOf } from "./user-tree.ts";

/**
 * Lands the steps of a plan that works in place, one after another, each through a journal of its own: the intention and every byte
 * are durable before the first file moves, and the step, its changes and the end of its tool call are recorded in the transaction
 * that seals the journal. So a step is there and recorded, or neither, whatever moment it is killed at; recovery is that of apply.
 * The caller holds the kernel locks of the plan's resources.
 */
export class StepLander {
  readonly #store: Store;
  readonly #lease: Lease<"execute">;
  readonly #hands: Hands;
  readonly #ids: IdGenerator;
  readonly #onKept: (files: readonly string[]) => void;
  /** A plan has one unsealed journal at a time, also when steps of one wave end together. */
  readonly #lane = new Lane();

  constructor(parts: {
    store: Store;
    lease: Lease<"execute">;
    hands: Hands;
    ids: IdGenerator;
    /** Told of files that were replaced while some program was still writing into them. */
    onKept: (files: readonly string[]) => void;
  }) {
    this.#store = parts.store;
    this.#lease = parts.lease;
    this.#hands = parts.hands;
    this.#ids = parts.ids;
    this.#onKept = parts.onKept;
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
    const landed = await land(this.#store, journal, this.#hands, contents);
    await this.#store.transaction((tx) => sealStep(tx, journal, landed));
    await this.#tidy(journal);
    if (landed.direction === "back") throw notLanded(this.#lease, where.root, landed);
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

  /** It is sealed: what cannot be tidied up now does not make it a failure, and the next command tries again. */
  async #tidy(journal: Journal): Promise<void> {
    try {
      const late = tidyUp(journal, this.#hands);
      await this.#store.transaction((tx) => markTidied(tx, journal.id));
      if (late.length > 0) this.#onKept(late);
    } catch {
      return;
    }
  }
}

export type StepJournal = Extract<Journal, { kind: "step" }>;

/** The end of a step's landing: what it did is recorded, or that it failed, in the transaction of the journal's outcome. */
export async function sealStep(tx: Tx, journal: StepJournal, landed: Landed): Promise<void> {
  const done = landed.direction === "forward";
  if (!(await sealJournal(tx, journal.id, done ? "done" : "undone", landed.kept))) return;
  const { step } = journal;
  if (done) return recordDone(tx, journal, step);
  await completeChangeset(tx, step.changeset, []);
  const error = landed.cause instanceof Error ? landed.cause.message : "It was interrupted and taken back.";
  await endInvocation(tx, step.invocation, { outcome: "failed", durationMs: step.durationMs, error });
}

async function recordDone(tx: Tx, { planId }: Pick<Journal, "planId">, step: LandingStep): Promise<void> {
  const { attempt, key, epoch, result, durationMs, resultSize } = step;
  await completeChangeset(tx, step.changeset, step.entries);
  await endInvocation(tx, step.invocation, { outcome: "ok", durationMs, resultSize });
  await insertStep(tx, { planId, phase: "execute", attempt, key, epoch, result });
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
  // A tool that deletes a file leaves its directory where it is.
  const kept = new Set(leaving.flatMap(({ path }) => directoriesAbove(path)).filter((directory) => !goes(directory)));
  const newDirectories = missingDirectories(root, files);
  return { alias, root, git: undefined, files, newDirectories, keptDirectories: [...kept] };
}

function notLanded({ planId }: Pick<Lease, "planId">, root: string, { cause, kept }: Landed): AgentsError {
  if (cause instanceof AgentsError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  const next = [`agents plan execute ${planId}`];
  if (cause instanceof ForeignChangeError || codeOf(cause) === undefined) {
    const message = `Somebody changed ${root} while the step was changing it: ${why}.`;
    const extras = { cause, next, detail: { path: root, kept } };
    return new AgentsError("merge_conflict", message, {
      ...extras,
      kept: "Their change is there, and nothing of the step is.",
    });
  }
  return new AgentsError("resource_failed", `The step could not change ${root}: ${why}.`, {
    cause,
    kept: "Nothing of the step is there.",
    next,
    detail: { path: root },
  });
}
