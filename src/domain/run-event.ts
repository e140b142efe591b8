/**
 * Everything that is told while something runs: planning, executing, applying, undoing and redoing a plan. One union
 * for every reader, so that a terminal, a log and a stream of events show the same. Events are news for a person who
 * watches, not records: the store alone says what counts. Telling never waits and is never waited for.
 */
import type { EventType } from "./plan/events.ts";
import type { Microdollars } from "./money/money.ts";
import type { NextStep } from "./errors/next-step.ts";
import type { SandboxStrategy } from "./resource/resource.ts";
import type { ValidatedPlace } from "./validation/validation-result.ts";

/** Everything that is told while something runs, by its `type`. */
export type RunEvent = SingleRunEvent | CandidatesEvent;

/** The events of one plan, or outside of any. */
export type SingleRunEvent =
  | PlanMadeEvent
  | RunStartedEvent
  | StepEvent
  | ModelEvent
  | ChecklistEvent
  | AnswerEvent
  | ToolEvent
  | HookEvent
  | ValidationEvent
  | SandboxEvent
  | KeptFilesEvent
  | LandingEvent
  | BudgetWarningEvent
  | GatewayReadyEvent
  | ProgressEvent
  | RecordedEvent
  | NoticeEvent;

/** How a caller is told of what happens. */
export type Tell = (event: RunEvent) => void;

/** For callers that do not watch. */
export const tellNothing: Tell = () => undefined;

/** A plan was made of the request. */
export interface PlanMadeEvent {
  readonly type: "plan_made";
  readonly plan: string;
  readonly project: string;
  /** Things that were missing and were made for it. */
  readonly made: readonly string[];
}

/** A plan is about to be carried out: what its models cost before, and may cost. */
export interface RunStartedEvent {
  readonly type: "run_started";
  readonly plan: string;
  /** "provider/model" of each that may be asked; none for a plan of fixed tool calls. */
  readonly models: readonly string[];
  readonly spent: Microdollars;
  readonly cap: Microdollars | undefined;
}

/** `step` is the id of a decided step here and in the other events, or "strategy" while no step is decided yet. */
export type StepEvent =
  /** All steps are known, in the order in which they come. */
  | {
      readonly type: "decided";
      /** They were known before this run. */
      readonly before: boolean;
      readonly steps: readonly { readonly step: string; readonly description: string }[];
    }
  | ({ readonly type: "step_started" } & AboutStep)
  | ({ readonly type: "step_done"; readonly durationMs: number } & AboutStep)
  /** An earlier run did it. */
  | ({ readonly type: "step_recorded" } & AboutStep)
  | ({ readonly type: "step_failed"; readonly durationMs: number; readonly error: string } & AboutStep);

interface AboutStep {
  readonly step: string;
  /** Undefined for a step that a model carries out with tools of its choice. */
  readonly tool: string | undefined;
  readonly description: string;
}

/** The model's provider and name, without the address it is asked at. */
interface AskedModel {
  readonly provider: string;
  readonly model: string;
}

/** A model is asked and answers. */
export type ModelEvent =
  | { readonly type: "context_assembled"; readonly step: string; readonly tokens: number; readonly files: number }
  | { readonly type: "ask_started"; readonly step: string; readonly key: string; readonly model: AskedModel }
  /** A piece of the answer to the latest `ask_started` of the step. */
  | { readonly type: "text"; readonly step: string; readonly text: string }
  /** A piece of what the model thinks before it answers, where its provider shows that. */
  | { readonly type: "thought"; readonly step: string; readonly text: string }
  /** The connection broke and the answer begins again: the pieces so far are void. */
  | { readonly type: "text_void"; readonly step: string }
  | {
      readonly type: "ask_answered";
      readonly step: string;
      readonly key: string;
      readonly model: AskedModel;
      readonly inputTokens: number;
      /** Those of `inputTokens` that the provider read from its cache. */
      readonly cachedTokens: number;
      readonly outputTokens: number;
      /** Undefined when the price is not known. */
      readonly cost: Microdollars | undefined;
      readonly durationMs: number;
      readonly toolCalls: number;
    }
  /** The provider could not answer; the same call is sent again after a while. */
  | ({ readonly type: "ask_waits"; readonly step: string; readonly key: string } & AskWait)
  | { readonly type: "ask_failed"; readonly step: string; readonly key: string; readonly error: string };

/** A call that is sent again after a while. */
export interface AskWait {
  readonly why: "rate limited" | "overloaded" | "failed" | "unreachable";
  readonly delayMs: number;
  /** The number of the try that follows, and of how many. */
  readonly next: number;
  readonly most: number;
}

/** The list by which a model shows what it is doing; each one replaces the one before. */
export interface ChecklistEvent {
  readonly type: "checklist";
  readonly step: string;
  readonly items: readonly { readonly text: string; readonly state: "open" | "doing" | "done" }[];
}

/** The answer to a question that was put outside of any plan. */
export type AnswerEvent =
  | ({ readonly type: "answer_waits" } & AskWait)
  | { readonly type: "answer_text"; readonly text: string }
  /** The connection broke and the answer begins again: the pieces so far are void. */
  | { readonly type: "answer_void" };

/** A tool call begins or ends. */
export type ToolEvent =
  | ({ readonly type: "tool_started" } & AboutTool)
  | ({
      readonly type: "tool_ended";
      readonly durationMs: number;
      /** Undefined when the call succeeded. */
      readonly error?: string;
    } & AboutTool);

interface AboutTool {
  readonly step: string;
  readonly key: string;
  readonly tool: string;
  /** The thing the call is about, such as a path; "" when one word cannot say it. */
  readonly target: string;
  /** The file or directory that it names, and the alias of its resource where the call says that. */
  readonly path?: string;
  readonly resource?: string;
}

/** A `pre-commit` or `commit-msg` program of the user's repository. */
export interface HookEvent {
  readonly type: "hook";
  /** The alias of the resource. */
  readonly resource: string;
  readonly hook: string;
  /** "recorded": an earlier run did it. "skipped": the caller asked for that. */
  readonly event: "started" | "done" | "recorded" | "skipped" | "failed";
  readonly durationMs: number;
}

/** A validation begins or ends. */
export interface ValidationEvent {
  readonly type: "validation";
  readonly resource: string;
  readonly validation: string;
  readonly where: ValidatedPlace;
  readonly event: "started" | "passed" | "failed";
  /** The result is that of an earlier run on the same files. */
  readonly recorded: boolean;
  /** It starts a program of the user's or the plan's. */
  readonly runsCommand: boolean;
  readonly durationMs: number;
}

/** The directory the plan works in is ready: a sandbox, or with the strategy `none` the user's own directory. */
export interface SandboxEvent {
  readonly type: "sandbox";
  readonly resource: string;
  readonly strategy: SandboxStrategy;
  readonly root: string;
  /** The user's own directory that it stands for. */
  readonly place: string;
  /** The branch it was made from. */
  readonly ref: string | undefined;
  /** The commit it was made from. */
  readonly base: string | undefined;
  /** It began with changes that were not committed. */
  readonly dirty: boolean;
  /** It was made just now. */
  readonly fresh: boolean;
}

/** Another program was still writing into these files when they were replaced; they are kept under these names. */
export interface KeptFilesEvent {
  readonly type: "kept_files";
  readonly files: readonly string[];
}

/** An apply, undo or redo: first the result is worked out, then it is written to the resources. */
export interface LandingEvent {
  readonly type: "landing";
  readonly kind: "apply" | "undo" | "redo";
  readonly event: "merging" | "landing";
}

/** A budget of money is nearly used up. */
export interface BudgetWarningEvent {
  readonly type: "budget_warning";
  readonly scope: "plan" | "gateway" | "group" | "day";
  readonly spent: Microdollars;
  readonly cap: Microdollars;
}

/** A gateway serves: the variables with which an agent program asks through it. */
export interface GatewayReadyEvent {
  readonly type: "gateway_ready";
  readonly variables: Readonly<Record<string, string>>;
}

/** Something that may take longer than a second has begun. */
export interface ProgressEvent {
  readonly type: "progress";
  /** "checking the audit log" */
  readonly doing: string;
  /** How many files are done, of how many; undefined where that is not counted. */
  readonly done?: number;
  readonly total?: number;
}

/** An event of the store, for a caller who watches a plan that another process works on. */
export interface RecordedEvent {
  readonly type: "recorded";
  readonly plan: string;
  /** Its place in the order of commits. */
  readonly sequence: number;
  readonly event: EventType;
  /** Its details in a line; "" when its type says it all. */
  readonly text: string;
}

/** Several candidates are carried out side by side; each has a number, from 1. */
export type CandidatesEvent =
  | {
      readonly type: "candidates_started";
      readonly group: string;
      readonly candidates: readonly { readonly candidate: number; readonly plan: string; readonly actor: string }[];
      /** Of all of them together. */
      readonly spent: Microdollars;
      readonly cap: Microdollars | undefined;
    }
  /** An event of one of them. */
  | { readonly type: "candidate"; readonly candidate: number; readonly plan: string; readonly event: SingleRunEvent }
  | {
      readonly type: "candidate_ended";
      readonly candidate: number;
      readonly plan: string;
      /** "waits": for a person. "stopped": by the user, or because another candidate was chosen. */
      readonly outcome: "ready" | "waits" | "failed" | "stopped";
      /** Its result in a few words, or why it ended. */
      readonly text: string;
    };

/** A sentence for the person who watches. */
export interface NoticeEvent {
  readonly type: "notice";
  readonly level: "info" | "warning";
  readonly text: string;
  /** The steps that help. */
  readonly next?: readonly NextStep[];
}
