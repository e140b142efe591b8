/** The outcome of a call, in a form that crosses threads and processes. */
import { AgentsError, type ErrorCode } from "../domain/errors/errors.ts";

export interface ErrorFacts {
  readonly name: string;
  readonly code: ErrorCode | undefined;
  readonly exit: number | undefined;
  readonly message: string;
}

export type Outcome<T = unknown> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ErrorFacts };

export async function outcomeOf<T>(call: Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await call };
  } catch (error) {
    return { ok: false, error: errorFacts(error) };
  }
}

export function errorFacts(error: unknown): ErrorFacts {
  if (error instanceof AgentsError) {
    return { name: error.name, code: error.code, exit: error.meaning.exit, message: error.message };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { name: error instanceof Error ? error.name : "unknown", code: undefined, exit: undefined, message };
}

export function winners<T>(outcomes: readonly Outcome<T>[]): T[] {
  return outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value] : []));
}

export function losses(outcomes: readonly Outcome[]): ErrorFacts[] {
  return outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.error]));
}
