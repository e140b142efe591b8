/** The things a caller hands to an operation besides its input: how to stop it, whom to tell and whom to ask. */
import type { RunEvent } from "../../domain/run-event.ts";
import { UsageError } from "../../domain/errors/errors.ts";

/** The four ports of one call of an operation. */
export interface Call {
  readonly signal: AbortSignal;
  readonly tell: (event: RunEvent) => void;
  readonly ask: Ask;
  /**
   * Who answers. A person: things worth seeing are worked out and shown before a question. A program, which means its
   * call. None: then a question that must be answered is an error, and one that may wait is left open.
   */
  readonly answers: "person" | "program" | "none";
  /** Hears which plan is meant, and in which version, before anything is done with it; by an error it prevents that. */
  readonly meant?: ((plan: { readonly id: string; readonly version: number }) => void) | undefined;
}

/**
 * The one port for questions. A terminal, an HTTP client or a program answers; an operation never knows which. Nothing
 * waits in memory for long: a question of a plan is a row in the store, and `none` leaves it there.
 */
export type Ask = (question: Question) => Promise<Reply>;

/** A question of an operation, by what kind of answer it takes. */
export type Question =
  /** Yes or no, before something that cannot be taken back. `shown` is the thing the question is about. */
  | { readonly kind: "confirm"; readonly text: string; readonly shown: readonly Shown[] }
  /** The plan's strategy: yes, no, or a text that says what should be different. */
  | { readonly kind: "strategy"; readonly text: string; readonly shown: readonly Shown[] }
  /** A question that the plan asks: one of the alternatives, or a text. */
  | { readonly kind: "plan"; readonly text: string; readonly alternatives: readonly string[] }
  /** A key for one change, or a reason or a comment. The answer is a text. */
  | { readonly kind: "review"; readonly text: string; readonly shown: readonly Shown[] }
  /** Which of several results: its number, a text such as "diff 2" to see one first, or none. Yes is the best. */
  | {
      readonly kind: "choice";
      readonly text: string;
      readonly alternatives: readonly string[];
      readonly shown: readonly Shown[];
    };

/** The facts a person should see before answering; the surface draws them. */
export interface Shown {
  /**
   * The preview of an apply, undo or redo; a plan's diff; whether and how it was checked; a plan's strategy; the wishes
   * of a definition; several candidates side by side; one change of a diff.
   */
  readonly kind: "landings" | "diff" | "checked" | "strategy" | "definition" | "comparison" | "change";
  readonly output: unknown;
}

/** The answer to a question. */
export type Reply =
  | { readonly kind: "yes" }
  | { readonly kind: "no" }
  | { readonly kind: "text"; readonly text: string }
  /** No answer: the question stays open. */
  | { readonly kind: "none" };

/** A program that calls an operation means it: confirmations are given, and a plan's question stays open. */
export const approveEverything: Ask = (question) =>
  Promise.resolve(question.kind === "plan" || question.kind === "review" ? { kind: "none" } : { kind: "yes" });

/** Asks for a yes. Where no one can be asked, the caller must have given it beforehand. */
export async function confirmed(call: Call, text: string, shown: readonly Shown[] = []): Promise<boolean> {
  if (call.answers === "none") {
    throw new UsageError(`${text} There is no terminal to ask on.`, {
      kept: "Nothing was changed.",
      next: [{ text: "repeat the command with --yes" }],
    });
  }
  return (await call.ask({ kind: "confirm", text, shown })).kind === "yes";
}
