/** A next step as a request to this server. */
import { snakeCase } from "../app/base/wire.ts";
import { OPERATIONS, isOperation } from "../app/table/operation-table.ts";
import type { TableEntry } from "../app/base/operation.ts";
import type { NextStep } from "../domain/errors/next-step.ts";

export function spellRequest(step: NextStep): string {
  if ("text" in step) return step.text;
  const { operation, note, arguments: given = {} } = step;
  const entry: TableEntry | undefined = isOperation(operation) ? OPERATIONS[operation] : undefined;
  const words = entry?.local === true || entry === undefined ? commandOf(operation) : routeOf(operation, given);
  return note === undefined ? words : `${note}: ${words}`;
}

/** Only a user of the server's machine can do it. */
function commandOf(operation: string): string {
  return `agents ${operation.replaceAll(".", " ")}`;
}

function routeOf(operation: string, given: Readonly<Record<string, unknown>>): string {
  const body = Object.fromEntries(Object.entries(given).map(([name, value]) => [snakeCase(name), value]));
  const text = Object.keys(body).length === 0 ? "" : ` ${JSON.stringify(body)}`;
  return `POST ${OPERATIONS_PATH}${operation}${text}`;
}

export const OPERATIONS_PATH = "/api/v1/operations/";
