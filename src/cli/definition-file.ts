import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "../domain/errors.ts";
import type { Input } from "./command-spec.ts";

/** The file a definition is read from, as `--config` names it; "-" is standard input. */
export function readDefinition(
  input: Input,
  what: { question: string; command: string },
): { text: string; file: string; outside: boolean } {
  const file = input.text("config");
  if (file === undefined) {
    throw new UsageError(`${what.question} Name its YAML file.`, { next: [`${what.command} --config <file>`] });
  }
  try {
    const text = readFileSync(file === "-" ? 0 : file, "utf8");
    return { text, file: file === "-" ? "standard input" : file, outside: isOutside(file) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The file ${file} cannot be read: ${why}.`, { kept: "Nothing was written." });
  }
}

/**
 * A file may come from another person if it is not a file of the user (standard input, or another owner), or lies in a repository
 * that has a remote, where others write.
 */
function isOutside(file: string): boolean {
  if (file === "-") return true;
  const { uid } = statSync(file);
  if (process.getuid !== undefined && uid !== process.getuid()) return true;
  return isInClone(dirname(realpathSync(file)));
}

function isInClone(directory: string): boolean {
  const git = join(directory, ".git");
  if (existsSync(git)) return hasRemote(git);
  const parent = dirname(directory);
  return parent !== directory && isInClone(parent);
}

/** A working tree of another repository has a file there; its repository may have a remote. */
function hasRemote(git: string): boolean {
  if (!statSync(git).isDirectory()) return true;
  try {
    return /^\s*\[\s*remote\b/im.test(readFileSync(join(git, "config"), "utf8"));
  } catch {
    return true;
  }
}
