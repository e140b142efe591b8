/** The walls around the parameters of statements: the same for every driver. */
import { UnitOfWorkError } from "../domain/errors/errors.ts";
import type { SqlValue } from "./port.ts";

/** Refuses every value that no column holds, or that would come back different from the way it was given. */
export function requireStorable(parameters: readonly SqlValue[]): void {
  for (let index = 0; index < parameters.length; index += 1) {
    const value = parameters[index];
    if (!isStorable(value)) {
      throw new UnitOfWorkError(
        `SQL parameter ${index + 1} is ${Object.prototype.toString.call(value)}, which no column holds.`,
      );
    }
  }
}

/** PostgreSQL holds no NUL in a text; so that both stores refuse alike, SQLite is given none either. */
function isStorable(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value === "number")
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return value === null || value instanceof Uint8Array;
}
