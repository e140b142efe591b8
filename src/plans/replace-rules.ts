/** One definition in the place of another: whether it may, and whether it is still the one that its caller saw. */
import { createHash } from "node:crypto";
import type { Action, ActionDefinition } from "../domain/action/action.ts";
import { ConflictError } from "../domain/errors/errors.ts";
import type { Tx } from "../store/port.ts";
import { updateAction } from "../store/tables/actions.ts";
import { recordEvent, type RecordSource } from "./transition.ts";

export interface ReplaceRules {
  /** A definition that has the name already is replaced; otherwise it is a conflict. */
  readonly replace?: boolean;
  /** The mark of the definition that the caller saw; another one in its place is a conflict. */
  readonly seen?: string | undefined;
}

/** Stands for a stored definition as it is now. */
export function markOf(definition: unknown): string {
  return createHash("sha256").update(JSON.stringify(definition)).digest("hex");
}

/** Read in the transaction that writes: of two callers who saw the same definition, one replaces it. */
export function requireSeen(what: string, current: unknown, seen: string | undefined): void {
  if (seen === undefined || (current !== undefined && markOf(current) === seen)) return;
  const actual = current === undefined ? "removed meanwhile" : "changed meanwhile";
  throw new ConflictError(
    `The ${what} was ${actual}.`,
    { expected: "the definition that you saw", actual },
    { kept: "Nothing was changed." },
  );
}

/** Plans that were made of the action keep what they took from it. */
export async function replaceAction(
  tx: Tx,
  source: RecordSource,
  before: Action,
  { at, ...definition }: ActionDefinition & { readonly at: number },
): Promise<Action> {
  const version = before.version + 1;
  await updateAction(tx, definition, at);
  await recordEvent(tx, source, { type: "action.replaced", at, details: { action: definition.name, version } });
  return { ...definition, state: before.state, version, createdAt: before.createdAt, updatedAt: at };
}
