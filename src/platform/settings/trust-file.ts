import { readFileSync } from "node:fs";
import * as z from "zod";
import { DataDirectory } from "../data-directory.ts";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import type { TakenVariable } from "../../domain/actor/actor-wants.ts";
import { replaceFile } from "./config-file.ts";
import { withFileLock } from "../file-lock.ts";
import { requireOwn } from "../ownership.ts";

/**
 * The user's permissions for files: the contents of files that were shown and accepted, and the variables that may go
 * to an endpoint. In the data directory, which commands of plans do not see.
 */
export interface Trust {
  /** Hashes of accepted contents. */
  readonly files: readonly string[];
  readonly variables: readonly TakenVariable[];
  /** Hashes of contents that were shown and refused: they are not asked for again. */
  readonly refused?: readonly string[] | undefined;
}

const schema = z.object({
  files: z.array(z.string()),
  variables: z.array(z.object({ name: z.string(), endpoint: z.string() })),
  refused: z.array(z.string()).optional(),
});

export function readTrust(dataDir: string): Trust {
  requireOwn(dataDir, "The data directory");
  const file = trustFile(dataDir);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { files: [], variables: [] };
    throw damagedTrustFileError(file, error);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw damagedTrustFileError(file, error);
  }
}

/** Adds to what is allowed; two processes that do so at the same time both survive. */
export async function allow(dataDir: string, more: Trust): Promise<void> {
  const file = trustFile(dataDir);
  await withFileLock(`${file}.lock`, async () => {
    const before = readTrust(dataDir);
    const known = new Set(before.variables.map(pairText));
    const files = new Set([...before.files, ...more.files]);
    const refused = new Set([...(before.refused ?? []), ...(more.refused ?? [])]);
    // The last word counts.
    for (const one of more.refused ?? []) files.delete(one);
    for (const one of more.files) refused.delete(one);
    const trust: Trust = {
      files: [...files],
      ...(refused.size === 0 ? {} : { refused: [...refused] }),
      variables: [...before.variables, ...more.variables.filter((one) => !known.has(pairText(one)))],
    };
    replaceFile(file, `${JSON.stringify(trust, undefined, 2)}\n`);
  });
}

/** Two texts become one that no other two become. */
export function pairText({ name, endpoint }: TakenVariable): string {
  return `${name} ${endpoint}`;
}

function trustFile(dataDir: string): string {
  return new DataDirectory(dataDir).trust;
}

function damagedTrustFileError(file: string, cause: unknown): ConfigurationError {
  return new ConfigurationError(`The record of accepted files, ${file}, cannot be read.`, {
    cause,
    kept: "It was left as it is.",
    next: [{ text: `remove ${file}: files are then shown and asked for again` }],
  });
}
