/**
 * The rounds of a step that an outside agent works on, as they are recorded. A round is one answer and what was done
 * with it. A turn is one prompt to the agent; it begins in a new process of the agent, in the files as they were after
 * the round `from`.
 */
import type { AnswerCall } from "../../actors/gateway/answer-calls.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import { isJsonObject, type JsonValue } from "../../domain/values/json.ts";
import type { AnswerWire, StepRecord } from "../../ledger/records.ts";
import { readAnswer, type StoredAnswer } from "../answers/stored-answer.ts";

export interface RecordedAnswer extends AnswerWire {
  readonly decision: DecisionId;
  readonly text: string;
  readonly calls: readonly AnswerCall[];
}

/** A comparison of the files: what was found is recorded with it. */
export type LookOutput = {
  readonly round: number;
  /** Of all files, after it. */
  readonly digest: string;
  /** Tools that a guard did not let the agent use in the round. */
  readonly rejected: string[];
};

/** An answer that nothing is done with: a title, the choice of a model. */
export type AsideOutput = {
  readonly aside: number;
  readonly request: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
};

/** A look as it is found in the record. */
export interface RecordedLook extends LookOutput {
  /** Among those of its round; a number is not used twice. */
  readonly index: number;
}

export type TurnOutput = {
  readonly turn: number;
  readonly prompt: string;
  readonly from: number;
  readonly heard: number;
  /** Why it does not continue the turn before by giving its answers again; "" for the first one. */
  readonly why: string;
};

export type TurnEndOutput = { readonly ended: number; readonly reason: string; readonly text: string };

export interface StepRounds {
  readonly answers: readonly RecordedAnswer[];
  readonly looks: readonly RecordedLook[];
  readonly asides: readonly AsideOutput[];
  readonly turns: readonly TurnOutput[];
  readonly ends: readonly TurnEndOutput[];
  /** The round of each recorded call, by the call's name. */
  readonly roundOf: ReadonlyMap<string, number>;
}

/** Of the records of a plan, in program order, those of the step. */
export function readRounds(records: readonly StepRecord[], step: string): StepRounds {
  const own = records.filter(({ id }) => id.startsWith(`${step}/`));
  const once = own.flatMap((record) => (record.kind === "once" ? [record.output] : []));
  const having = <T extends JsonValue>(key: string): T[] =>
    once.flatMap((output) => (typeof output === "object" && output !== null && key in output ? [output as T] : []));
  return {
    answers: own.flatMap((record) => {
      if (record.kind !== "answer" || record.wire === undefined) return [];
      const { text, toolCalls } = readAnswer(record.answer as unknown as StoredAnswer);
      const calls = toolCalls.map(({ id, tool, params, raw }) => ({ id, tool, params: params ?? raw }));
      return [{ ...record.wire, decision: record.decision, text, calls }];
    }),
    looks: own.flatMap(({ id, ...record }) => {
      const output = record.kind === "once" ? record.output : undefined;
      if (!isJsonObject(output) || !("digest" in output)) return [];
      return [{ ...(output as unknown as LookOutput), index: Number(/-look-(\d+)$/.exec(id)?.[1] ?? 0) }];
    }),
    asides: having<AsideOutput>("aside"),
    turns: having<TurnOutput>("prompt"),
    ends: having<TurnEndOutput>("ended"),
    roundOf: new Map(own.flatMap((record) => (record.kind === "tool_call" ? roundIn(record.id, record.output) : []))),
  };
}

function roundIn(id: string, output: JsonValue | undefined): [string, number][] {
  const round = isJsonObject(output) ? output["round"] : undefined;
  return typeof round === "number" ? [[id, round]] : [];
}
