/**
 * The records of durable steps, as a union by kind. A step that is part of carrying out a plan says what kind of record
 * it leaves, in a column of its own, so that readers select by kind and need not take keys apart. The key identifies
 * the record within the plan, the phase and the attempt; each kind has its own prefix, so that no two kinds share a
 * key.
 */
import type { ChangesetId, DecisionId } from "../domain/names/ids.ts";
import type { Instructions } from "../domain/plan/tool-outcome.ts";
import type { JsonValue } from "../domain/values/json.ts";

/**
 * A position in the program: wave, position in it, then numbers that order what a step does. Compared from left to
 * right.
 */
export type Order = readonly number[];

interface RecordFacts {
  /** The whole key, as `runStep` has it. */
  readonly key: string;
  /** The key without the prefix of its kind. */
  readonly id: string;
  readonly order: Order;
}

/** A tool call: its output, or an error; `changeset` is missing when the call failed before it had one. */
export interface ToolCallStep extends RecordFacts {
  readonly kind: "tool_call";
  readonly changeset?: ChangesetId;
  readonly output?: JsonValue;
  /** Instructions of the project that were told with it. */
  readonly instructions?: readonly Instructions[];
}

/** The answer of a model, and the decision it stands for. */
interface AnswerStep extends RecordFacts {
  readonly kind: "answer";
  readonly decision: DecisionId;
  readonly answer: JsonValue;
  /** Of an outside agent: the answer as it went over the wire, to be given again. */
  readonly wire?: AnswerWire;
}

export interface AnswerWire {
  readonly round: number;
  readonly dialect: string;
  readonly status: number;
  readonly contentType: string;
  /** The hash of its content. */
  readonly body: string;
  /** The hash of what was asked. */
  readonly request: string;
  readonly conversation: string;
}

/** The context that a model was shown. */
interface ContextStep extends RecordFacts {
  readonly kind: "context";
  readonly output: JsonValue;
}

/** A hook of the repository that ran to its end (then it has a changeset) or was skipped. */
export interface HookStep extends RecordFacts {
  readonly kind: "hook";
  readonly changeset?: ChangesetId;
  readonly skipped?: true;
  /** The commit message as the `commit-msg` hook left it. */
  readonly message?: string;
}

/** The end of a step that a model worked out, with its own summary of it. */
interface EndedStep extends RecordFacts {
  readonly kind: "step_end";
  readonly summary: string;
}

/** A step gave up; the next try continues from there. */
interface GaveUpStep extends RecordFacts {
  readonly kind: "gave_up";
  readonly output: JsonValue;
}

/** The result of code that runs once: a condition of a graph, a choice by lot. */
interface OnceStep extends RecordFacts {
  readonly kind: "once";
  readonly output: JsonValue;
}

export type StepRecord = ToolCallStep | AnswerStep | ContextStep | HookStep | EndedStep | GaveUpStep | OnceStep;

/**
 * `other` is a step of a program that uses `runStep` on its own: it has no position, and no reader here looks for it.
 */
export type StepKind = StepRecord["kind"] | "other";

const PREFIXES = {
  tool_call: "tool-step:",
  answer: "ask:",
  context: "context:",
  hook: "hook:",
  step_end: "worked:",
  gave_up: "gave-up:",
  once: "once:",
  other: "",
} as const satisfies Record<StepKind, string>;

export interface StepKey {
  readonly kind: StepKind;
  readonly key: string;
}

export function stepKey(kind: StepKind, id: string): StepKey {
  return { kind, key: `${PREFIXES[kind]}${id}` };
}

export function canChangeFiles(record: StepRecord): record is ToolCallStep | HookStep {
  return record.kind === "tool_call" || record.kind === "hook";
}

/** The name under which people see a record that changed files: hooks have a name that no step of a plan can have. */
export function changingStepName({ kind, key, id }: ToolCallStep | HookStep): string {
  return kind === "hook" ? key : id;
}

/** A row of the table as a record. */
export function stepRecordOf(row: {
  readonly kind: StepRecord["kind"];
  readonly key: string;
  readonly result: string;
}): StepRecord {
  const { kind, key, result } = row;
  const facts = JSON.parse(result) as Omit<StepRecord, "kind" | "key" | "id">;
  return { ...facts, kind, key, id: key.slice(PREFIXES[kind].length) } as StepRecord;
}
