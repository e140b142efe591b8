/**
 * Paths in a request are of the server's machine. A terminal makes them absolute and is itself in a directory that is
 * there; a request must say so.
 */
import { existsSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Parameter } from "../app/base/operation.ts";
import { snakeCase } from "../app/base/wire.ts";
import { UsageError } from "../domain/errors/errors.ts";

export function requirePaths(parameters: readonly Parameter[], input: Readonly<Record<string, unknown>>): void {
  for (const { name, kind } of parameters) {
    const path = input[name];
    if (typeof path !== "string") continue;
    if ((kind === "path" || kind === "here") && !isAbsolute(path))
      throw pathError(name, "must be an absolute path on the server's machine");
    if (kind === "here" && !(existsSync(path) && statSync(path).isDirectory()))
      throw pathError(name, "must be a directory on the server's machine");
  }
}

function pathError(name: string, why: string): UsageError {
  return new UsageError(`${snakeCase(name)} ${why}.`, { kept: "Nothing was changed." });
}
