import { AgentsError, StoreError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";

/** The meaning of SQLite's result codes for a user. Only the primary code (the low byte) decides. */
const BUSY = 5;
const NO_MEMORY = 7;
const READ_ONLY = 8;
const IO = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff;
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY;
}

/** The content of the file cannot be trusted. */
export function isCorrupt(error: unknown): boolean {
  const code = primaryCode(error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/** After these errors the running transaction cannot be trusted, even if a unit of work caught the error. */
export function endsTransaction(error: unknown): boolean {
  const code = primaryCode(error);
  return code === NO_MEMORY || code === READ_ONLY || code === IO || code === CORRUPT || code === FULL;
}

export function storeError(error: unknown, file: string): unknown {
  if (error instanceof AgentsError) return error;
  const cause = { cause: error, detail: { file } };
  switch (primaryCode(error)) {
    case undefined:
      return error;
    case BUSY:
      return new StoreError("store_busy", `The database is busy: another process holds ${file} for too long.`, {
        ...cause,
        kept: "Nothing was written.",
        next: [{ text: "try again" }, nextStep("diagnostics")],
      });
    case FULL:
      return new StoreError("store_full", `There is no space left for the database ${file}.`, {
        ...cause,
        kept: "Everything acknowledged before is kept; this request was not carried out.",
        next: [{ text: "free some space, then repeat the command" }],
      });
    case READ_ONLY:
      return new StoreError("store_read_only", `The database ${file} cannot be written (read-only).`, {
        ...cause,
        kept: "Nothing was changed.",
        next: [{ text: "check the permissions of the data directory" }, nextStep("diagnostics")],
      });
    case CORRUPT:
    case NOT_A_DATABASE:
      return new StoreError("store_corrupt", `The file ${file} is damaged or is not a CleverAgents database.`, {
        ...cause,
        kept: "It was left as it is.",
        next: [{ text: "restore the file from a backup, or move it away to start afresh" }],
      });
    case CANNOT_OPEN:
      return new StoreError("store_failed", `The database ${file} cannot be opened.`, {
        ...cause,
        kept: "Nothing was changed.",
        next: [{ text: "check that the data directory exists and is yours" }, nextStep("diagnostics")],
      });
    default:
      return new StoreError("store_failed", `The database ${file} failed: ${(error as Error).message}.`, {
        ...cause,
        kept: "Everything acknowledged before is kept.",
        next: [nextStep("diagnostics")],
      });
  }
}
