/** The operations that are routes: all that make sense away from this machine. */
import type { TableEntry } from "../app/base/operation.ts";
import { isOperation, OPERATIONS, type OperationName } from "../app/table/operation-table.ts";

export function routedOperations(): (readonly [OperationName, TableEntry])[] {
  return Object.entries<TableEntry>(OPERATIONS).flatMap(([name, entry]) =>
    entry.local === true || !isOperation(name) ? [] : [[name, entry] as const],
  );
}
