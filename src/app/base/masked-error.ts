/**
 * Errors as they may leave the application. A command or a parser may complain with the very words it was given, so
 * every surface masks the known secrets of its caller's environment in an error before it shows it.
 */
import { AgentsError, ValidationError } from "../../domain/errors/errors.ts";
import { maskedFacts, maskedText, maskingSecretsOf } from "../../platform/masking.ts";
import type { Environment } from "../../domain/values/environment.ts";

export function maskedError(error: AgentsError, environment: Environment): AgentsError {
  return maskingSecretsOf(environment, () => {
    const { message, kept, next, detail } = maskedFacts({
      message: error.message,
      kept: error.kept,
      next: error.next,
      detail: error.detail,
    });
    const facts = { ...(kept === undefined ? {} : { kept }), next, detail };
    if (error instanceof ValidationError) return new ValidationError(message, maskedFacts(error.issues), facts);
    return new AgentsError(error.code, message, facts);
  });
}

/** The error with its stack and its causes, for a person who looks for the defect. */
export function maskedErrorChain(error: unknown, environment: Environment): string {
  return maskingSecretsOf(environment, () => maskedText(errorChain(error)));
}

function errorChain(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? `\ncaused by ${errorChain(error.cause)}` : "";
  return (error instanceof Error ? (error.stack ?? error.message) : String(error)) + cause;
}

/** A line of a log. */
export function maskedLine(line: string, environment: Environment): string {
  return maskingSecretsOf(environment, () => maskedText(line));
}
