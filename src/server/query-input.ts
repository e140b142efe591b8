/** The input of a reading operation as the query of a GET: texts become values by the table's parameters. */
import type { Parameter, TableEntry } from "../app/base/operation.ts";
import { isStorable } from "../app/base/storable.ts";
import { snakeCase } from "../app/base/wire.ts";
import { UsageError } from "../domain/errors/errors.ts";

export function inputOfQuery(entry: TableEntry, query: URLSearchParams): Record<string, unknown> {
  const parameters = new Map((entry.parameters ?? []).map((one) => [snakeCase(one.name), one]));
  return Object.fromEntries(
    [...new Set(query.keys())].map((key) => {
      const parameter = parameters.get(key);
      if (parameter === undefined) throw queryError(key, "is not a parameter of this operation");
      return [key, valueOf(key, parameter, query.getAll(key))];
    }),
  );
}

function valueOf(key: string, { kind, many }: Parameter, given: readonly string[]): unknown {
  const [text = "", ...others] = given;
  if (!isStorable(given)) throw queryError(key, "has a NUL character");
  if (many === true) return given;
  if (others.length > 0) throw queryError(key, "is given twice");
  if (kind === "flag") {
    if (text !== "true" && text !== "false") throw queryError(key, "must be true or false");
    return text === "true";
  }
  if (kind !== "integer" && kind !== "number") return text;
  if (!/^-?\d{1,15}(\.\d{1,15})?$/.test(text)) throw queryError(key, "must be a number");
  return Number(text);
}

function queryError(key: string, why: string): UsageError {
  return new UsageError(`${key.slice(0, 100)} ${why}.`, { kept: "Nothing was changed." });
}
