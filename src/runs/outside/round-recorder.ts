/**
 * Records what was done with an answer: the files are compared while the agent stands still, and the changes, one tool
 * invocation for each call of the answer, and the state of all files are recorded in one transaction. While recorded
 * answers are given again, nothing is recorded: the files must be as they were.
 */
import { hash } from "node:crypto";
import type { AnswerCall } from "../../actors/gateway/answer-calls.ts";
import type { CallResult } from "../../actors/gateway/request-reading.ts";
import type { InvocationEnd } from "../../domain/plan/decision.ts";
import type { ChangeEntryInput } from "../../domain/plan/change-entry.ts";
import { monotonicIds, type ChangesetId, type DecisionId, type InvocationId } from "../../domain/names/ids.ts";
import { outsideToolName } from "../../domain/profile/outside-tools.ts";
import { storable } from "../../domain/text/text.ts";
import type { ChangesetHandle } from "../../execution/workspace/plan-execution-context.ts";
import type { FoundChanges, HostedFiles } from "../../execution/workspace/workspace.ts";
import { completeChangeset, insertChangeset, preparedEntry } from "../../ledger/changesets.ts";
import { beginInvocation, endInvocation, type CallStart } from "../../ledger/invocations.ts";
import type { Lease } from "../../ledger/leases.ts";
import { stepKey } from "../../ledger/records.ts";
import { insertStep, runStep } from "../../ledger/steps.ts";
import { maskedJson, maskedText } from "../../platform/masking.ts";
import type { Tx } from "../../store/port.ts";
import { recordName } from "../answers/record-name.ts";
import type { RoundEffects } from "./round-effects.ts";
import { creditedTo } from "./credited-calls.ts";
import type { LookOutput, RecordedLook } from "./round-records.ts";

/** One answer, while it is carried out. */
export interface Round {
  /** 0 for everything before the first answer. */
  readonly number: number;
  readonly decision: DecisionId;
  readonly calls: readonly AnswerCall[];
  readonly conversation: string;
  readonly begun: number;
  /** Calls that guards were asked about, and which have begun. */
  readonly allowed: AllowedCall[];
  readonly rejected: string[];
  /** Tools of ours that were called, and are on record. */
  readonly served: string[];
}

interface AllowedCall {
  readonly tool: string;
  /** Among the calls of the answer. */
  readonly index: number | undefined;
  readonly handle: ChangesetHandle;
}

/** The files are not as they were when the answers were given for the first time. */
export class DivergedError extends Error {}

interface RecorderParts {
  readonly lease: Lease<"execute">;
  readonly step: string;
  readonly agent: string;
  readonly effects: RoundEffects;
  readonly files: readonly HostedFiles[];
  /** Stops everything of the agent, and returns what lets it go on. */
  readonly pause: () => Promise<() => void>;
  /** Everything of the agent that has not ended. */
  readonly running: () => ReadonlySet<string>;
  /** All that are recorded of the step, in their order. */
  readonly looks: readonly RecordedLook[];
  /** The last round before the turn: the turn began in the files as they were after it. */
  readonly from: number;
  /** The calls of its answer that came to tools of ours. */
  readonly cameHere: (round: Round) => ReadonlySet<number>;
  /** Asks guards about calls that they were not asked about, before what came of them is recorded. */
  readonly judge: (round: Round, changed: boolean) => Promise<void>;
}

function divergedError(round: number): DivergedError {
  return new DivergedError(`after the answer ${round} the files are not as they were`);
}

/** A call as it is recorded when the files are compared. */
interface SeenCall {
  readonly id: InvocationId;
  readonly changeset: ChangesetId;
  /** A guard was asked about it, and it has begun. */
  readonly begun: ChangesetHandle | undefined;
  readonly start: Omit<CallStart, "id">;
  readonly end: InvocationEnd;
  readonly entries: readonly ChangeEntryInput[];
}

export const NOT_CARRIED_OUT = "another call of the same answer was refused";
const BUSY = "while something of an earlier round was still running";

export class RoundRecorder {
  readonly #parts: RecorderParts;
  readonly #ids = monotonicIds();
  /** The agent's own processes, before any answer. */
  #own: ReadonlySet<string> | undefined;
  /** The recorded states that the files must come to, in this order, before anything new is recorded. */
  readonly #expected: RecordedLook[];
  /** How many looks of each round are recorded. */
  readonly #looks = new Map<number, number>();
  readonly #seen = new Set<number>();
  /** Of the files at the last look. */
  #digest = "";
  /** Something that an earlier round started still ran when the present one began. */
  #busy = false;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#expected = parts.looks.filter(({ round }) => round > parts.from);
    for (const { round, index } of parts.looks)
      this.#looks.set(round, Math.max(this.#looks.get(round) ?? 0, index + 1));
  }

  /** After the end. @throws DivergedError when the files never came to a state that is recorded. */
  requireRecorded(): void {
    const missing = this.#expected.find(({ digest }) => digest !== this.#digest);
    if (missing !== undefined) throw divergedError(missing.round);
  }

  /** Compares the files, and records what the round did; `results` are what the agent says came of its calls. */
  async look(round: Round, results: readonly CallResult[]): Promise<void> {
    const { files, pause, running } = this.#parts;
    const goOn = await pause();
    try {
      const still = running();
      const found: FoundChanges[] = [];
      for (const one of files) found.push(await one.found());
      await this.#settle(round, found, results);
      files.forEach((one, index) => one.noted(found[index] as FoundChanges));
      this.#own ??= still;
      this.#busy = [...still].some((process) => this.#own?.has(process) === false);
    } finally {
      goOn();
    }
  }

  async #settle(round: Round, found: readonly FoundChanges[], results: readonly CallResult[]): Promise<void> {
    const { files, judge } = this.#parts;
    const digest = digestOf(files, found);
    const entries = found.flatMap((one) => one.entries);
    if (!this.#isKnown(round, { digest, changed: entries.length > 0 })) {
      const first = !this.#looks.has(round.number);
      if (entries.length > 0 || (first && round.number > 0)) {
        if (first) await judge(round, entries.length > 0);
        await this.#record(round, { entries, digest, results });
      }
    }
    this.#seen.add(round.number);
    this.#digest = digest;
  }

  /** Whether recorded answers lead here, so that nothing is recorded. @throws DivergedError when they led elsewhere. */
  #isKnown({ number }: Round, { digest, changed }: { readonly digest: string; readonly changed: boolean }): boolean {
    const expected = this.#expected;
    if (expected.length === 0) return false;
    const at = expected.findIndex((look) => look.digest === digest);
    if (at !== -1) {
      expected.splice(0, at + 1);
      return true;
    }
    const own = !this.#seen.has(number) && expected.some(({ round }) => round === number);
    if (!changed && !own) return true;
    if (own || expected.some((look) => look.digest !== this.#digest)) throw divergedError(number);
    // The others were seen already, in a look at another round.
    expected.length = 0;
    return false;
  }

  async #record(
    round: Round,
    seen: { entries: readonly ChangeEntryInput[]; digest: string; results: readonly CallResult[] },
  ): Promise<void> {
    const { lease, step, effects } = this.#parts;
    const index = this.#looks.get(round.number) ?? 0;
    const name = `acp-${round.number}-look-${index}`;
    const calls = this.#callsOf(round, seen);
    const staged: (Omit<SeenCall, "entries"> & { entries: Awaited<ReturnType<typeof preparedEntry>>[] })[] = [];
    for (const call of calls) {
      const entries: Awaited<ReturnType<typeof preparedEntry>>[] = [];
      for (const entry of call.entries) {
        const credited = { ...entry, toolInvocation: call.id, decision: round.decision };
        entries.push(await preparedEntry(lease.store, credited));
      }
      staged.push({ ...call, entries });
    }
    const order = [...effects.next()];
    const busy = this.#busy && seen.entries.length > 0 ? { note: BUSY } : {};
    const output: LookOutput = { round: round.number, digest: seen.digest, rejected: [...round.rejected] };
    await runStep(
      lease,
      stepKey("once", recordName(step, name)),
      async () => ({ order, output: { ...output, ...busy } }),
      async (tx) => {
        for (const [at, call] of staged.entries()) {
          for (const one of call.entries) for (const content of one.staged) await content.commit(tx);
          await this.#insertCall(tx, round, { ...call, entries: call.entries.map(({ hashed }) => hashed) });
          const key = stepKey("tool_call", recordName(step, `acp-${round.number}-${index}-${at + 1}`)).key;
          const kept = { round: round.number, outcome: call.end.outcome, ...busy };
          const result = {
            order,
            changeset: call.changeset,
            output: kept,
            ...(call.entries.length > 0 ? { changed: true } : {}),
          };
          const { planId, phase, plan, epoch } = lease;
          await insertStep(tx, { planId, phase, attempt: plan.attempt, kind: "tool_call", key, epoch, result });
        }
      },
    );
    this.#looks.set(round.number, index + 1);
    for (const { begun } of staged) begun?.closedElsewhere();
  }

  /** One for each call of the answer at the first look; later, and without calls, one for what was found. */
  #callsOf(round: Round, seen: { entries: readonly ChangeEntryInput[]; results: readonly CallResult[] }): SeenCall[] {
    const { agent, step } = this.#parts;
    const durationMs = performance.now() - round.begun;
    const first = !this.#looks.has(round.number);
    const elsewhere = this.#parts.cameHere(round);
    const own = round.calls.map((call, index) => ({ call, index })).filter(({ index }) => !elsewhere.has(index));
    const calls = first && own.length > 0 ? own : [{ call: TURN_CALL, index: TURN_INDEX }];
    if (calls[0]?.call === TURN_CALL && seen.entries.length === 0) return [];
    const credited = creditedTo(
      calls.map(({ call }) => call),
      seen.entries,
    );
    const rejected = [...round.rejected];
    const ofAnswer = calls.flatMap(({ call, index }, at): SeenCall[] => {
      const tool = outsideToolName(agent, storable(call.tool, 150));
      const begun = first ? round.allowed.find((one) => one.index === index) : undefined;
      const entries = credited[at] ?? [];
      // Its refusal is on record already.
      if (begun === undefined && entries.length === 0 && rejected.includes(tool)) {
        rejected.splice(rejected.indexOf(tool), 1);
        return [];
      }
      const came = resultOf(call, index, seen.results);
      const left = came === undefined && begun === undefined && first && round.rejected.length > 0;
      return [
        {
          id: begun?.handle.call?.id ?? (this.#ids() as InvocationId),
          changeset: begun?.handle.id ?? (this.#ids() as ChangesetId),
          begun: begun?.handle,
          start: {
            decision: round.decision,
            tool,
            params: maskedJson(call.params).value,
            guarded: { step, writes: true },
          },
          end: left ? { outcome: "failed", durationMs: 0, error: NOT_CARRIED_OUT } : endOf(came, durationMs),
          entries,
        },
      ];
    });
    return [...ofAnswer, ...(first ? this.#ownCalls(round, durationMs) : [])];
  }

  /** Calls for which the agent had permission, and which are not in the answer. */
  #ownCalls({ allowed, decision }: Round, durationMs: number): SeenCall[] {
    return allowed.flatMap(({ index, tool, handle }) => {
      if (index !== undefined || handle.call === undefined) return [];
      const guarded = { step: this.#parts.step, writes: true };
      const start = { decision, tool, params: {}, guarded };
      const end = { outcome: "ok", durationMs, resultSize: 0 } as const;
      return [{ id: handle.call.id, changeset: handle.id, begun: handle, start, end, entries: [] }];
    });
  }

  async #insertCall(
    tx: Tx,
    round: Round,
    call: Omit<SeenCall, "entries"> & { readonly entries: Parameters<typeof completeChangeset>[2] },
  ): Promise<void> {
    const { planId, epoch } = this.#parts.lease;
    const { id, changeset, entries } = call;
    if (call.begun !== undefined) await completeChangeset(tx, changeset, entries);
    else {
      await insertChangeset(tx, { id: changeset, planId, epoch, entries });
      await beginInvocation(
        tx,
        { id, ...call.start, decision: round.decision },
        { planId, changesetId: changeset, epoch },
      );
    }
    await endInvocation(tx, id, call.end);
  }
}

/** Stands for changes that no call of an answer explains. */
export const TURN_CALL: AnswerCall = { id: "", tool: "turn", params: {} };
export const TURN_INDEX: number = -1;

function resultOf(call: AnswerCall, index: number, results: readonly CallResult[]): CallResult | undefined {
  if (call.id !== "") return results.find(({ id }) => id === call.id);
  return results[index]?.tool === call.tool ? results[index] : results.find(({ tool }) => tool === call.tool);
}

function endOf(came: CallResult | undefined, durationMs: number): InvocationEnd {
  if (came?.failed === true) return { outcome: "failed", durationMs, error: maskedText(came.text) };
  return { outcome: "ok", durationMs, resultSize: Buffer.byteLength(came?.text ?? "") };
}

/** Of the files of all sandboxes. */
function digestOf(files: readonly HostedFiles[], found: readonly FoundChanges[]): string {
  const lines = files.flatMap(({ workspace }, index) =>
    [...(found[index]?.files ?? [])].map(
      ([path, seen]) => `${workspace.sandbox.alias}\0${path}\0${seen.hash}\0${seen.mode}`,
    ),
  );
  return hash("sha256", lines.sort().join("\n"));
}
