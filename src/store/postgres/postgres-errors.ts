/** The meaning of PostgreSQL's error codes, for the driver and for a user. */
import { AgentsError, StoreError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Two units were in each other's way: run again, each has its turn. */
export function isConflict(error: unknown): boolean {
  // Serialization failure, deadlock, a lock that was waited for too long.
  return ["40001", "40P01", "55P03"].includes(codeOf(error) ?? "");
}

/** Reported instead of a conflict when the query that conflicts was about another table; or really a duplicate. */
export function isDuplicate(error: unknown): boolean {
  return codeOf(error) === "23505";
}

/**
 * The connection is gone, and with it the transaction, unless that was being committed. Errors of the client itself
 * have no code, those of the system one like ECONNRESET; 08, 57P and 25P are said by a server that ends a session.
 */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof AgentsError || !(error instanceof Error)) return false;
  // A newer program migrated the schema: what this connection has parsed is out of date.
  if (error.message.startsWith("cached plan must not change")) return true;
  return /^(undefined|E[A-Z]+|08...|57P0[1-5]|25P0[34]|53300)$/.test(String(codeOf(error)));
}

export function storeError(error: unknown, place: string): unknown {
  if (error instanceof AgentsError || !(error instanceof Error)) return error;
  const cause = { cause: error, detail: { store: place } };
  const code = codeOf(error);
  if (isConnectionLoss(error)) {
    return new StoreError("store_failed", `The database ${place} does not answer: ${reasonOf(error)}.`, {
      ...cause,
      kept: "Everything acknowledged before is kept; this request was not carried out.",
      next: [{ text: "check that the server runs and can be reached" }, nextStep("diagnostics")],
    });
  }
  if (isConflict(error) || code === "57014") {
    return new StoreError("store_busy", `The database ${place} is busy: ${error.message}.`, {
      ...cause,
      kept: "Nothing was written.",
      next: [{ text: "try again" }, nextStep("diagnostics")],
    });
  }
  if (code === "53100") {
    return new StoreError("store_full", `There is no space left for the database ${place}.`, {
      ...cause,
      kept: "Everything acknowledged before is kept; this request was not carried out.",
      next: [{ text: "free some space on the server, then repeat the command" }],
    });
  }
  return new StoreError("store_failed", `The database ${place} failed: ${error.message}.`, {
    ...cause,
    kept: "Everything acknowledged before is kept.",
    next: [nextStep("diagnostics")],
  });
}

/** Several addresses of one host that all refuse are one error without a message. */
function reasonOf(error: Error): string {
  return error.message === "" ? String(codeOf(error)) : error.message;
}
