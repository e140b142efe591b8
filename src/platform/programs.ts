/**
 * The programs this process starts. Each is looked for once, in the absolute entries of PATH only, and started by its
 * absolute path: a relative entry would name another program in each directory, and one of those directories is a
 * sandbox, where a plan writes what it likes. The programs get a PATH without such entries too.
 */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { ConfigurationError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";

/** Where a system without PATH keeps its programs. */
const USUAL = "/usr/local/bin:/usr/bin:/bin";

/** By PATH, because tests change it. A program that is missing is looked for again: the user may install it. */
const found = new Map<string, Map<string, string>>();

/** PATH without its relative and empty entries. */
export function searchPath(path: string | undefined = process.env["PATH"]): string {
  return (path ?? USUAL)
    .split(delimiter)
    .filter((entry) => isAbsolute(entry))
    .join(delimiter);
}

export function findProgram(name: string, path?: string): string | undefined {
  const searched = searchPath(path);
  const known = found.get(searched) ?? new Map<string, string>();
  found.set(searched, known);
  const program = known.get(name) ?? lookFor(name, searched);
  if (program !== undefined) known.set(name, program);
  return program;
}

/** For what this product cannot do without. */
export function requireProgram(name: string): string {
  const program = findProgram(name);
  if (program !== undefined) return program;
  throw new ConfigurationError(`The program ${name} is not in any absolute directory of PATH.`, {
    kept: "Nothing was changed.",
    next: [{ text: `install ${name}, or add its directory to PATH` }, nextStep("diagnostics")],
    detail: { program: name },
  });
}

function lookFor(name: string, searched: string): string | undefined {
  const candidates = searched.split(delimiter).map((directory) => join(directory, name));
  return candidates.find((candidate) => isExecutable(candidate));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
