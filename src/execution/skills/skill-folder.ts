/**
 * The files of a skill. A folder may come from other people: nothing outside of it is read, however its links lead,
 * and sizes have limits.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, realpathSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import { AgentsError } from "../../domain/errors/errors.ts";
import { parseSkillText, type SkillText } from "../../domain/skill/skill-text.ts";

const SKILL_FILE = "SKILL.md";
const KIBIBYTE = 1024;
/** Bytes of SKILL.md; it is told as a whole. */
const LARGEST_TEXT: number = 64 * KIBIBYTE;
/** Bytes of another file. */
const LARGEST_FILE: number = 256 * KIBIBYTE;
const MOST_FILES = 500;
const DEEPEST = 8;

export interface SkillFolder extends SkillText {
  /** The other files, below the folder, in the order of their names. */
  readonly files: readonly string[];
}

/** `known` is the path of the folder as the user knows it: its last part is the skill's name. */
export function readSkillFolder(directory: string, known: string = directory): SkillFolder {
  const text = readSkillFile(directory, SKILL_FILE);
  return { ...parseSkillText(text, join(known, SKILL_FILE), basename(resolve(known))), files: filesOf(directory) };
}

/** The text of a file of the folder. */
export function readSkillFile(directory: string, file: string): string {
  const path = insidePath(directory, file);
  // A named pipe would keep the reader waiting.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const limit = file === SKILL_FILE ? LARGEST_TEXT : LARGEST_FILE;
    const facts = fstatSync(descriptor);
    if (!facts.isFile()) throw refusedError(file, "is not a file");
    const bytes = Buffer.alloc(limit + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(descriptor, bytes, length, bytes.length - length, null);
    if (length > limit) throw refusedError(file, `is larger than ${limit / KIBIBYTE} KiB`);
    return textOf(file, bytes.subarray(0, length));
  } finally {
    closeSync(descriptor);
  }
}

function textOf(file: string, bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Not UTF-8: as binary as a zero byte.
  }
  throw refusedError(file, "is not a text");
}

/** The real path of a file that lies in the folder. */
function insidePath(directory: string, file: string): string {
  const root = realpathSync.native(directory);
  let path: string;
  try {
    path = realpathSync.native(resolve(root, file));
  } catch {
    throw refusedError(file, "is not there");
  }
  if (!path.startsWith(`${root}${sep}`)) throw refusedError(file, "leads out of the skill's folder");
  return path;
}

/** The files of the folder that a model could not read, each with the reason. */
export function unreadableFiles(directory: string): { readonly file: string; readonly message: string }[] {
  return entriesOf(directory).flatMap((file) => {
    try {
      readSkillFile(directory, file);
      return [];
    } catch (error) {
      if (error instanceof AgentsError) return [{ file, message: error.message }];
      throw error;
    }
  });
}

/** Links that lead out of the folder, and SKILL.md itself, are left out. */
function filesOf(directory: string): string[] {
  return entriesOf(directory).filter((file) => {
    if (file === SKILL_FILE) return false;
    if (!lstatSync(join(directory, file)).isSymbolicLink()) return true;
    try {
      return insidePath(directory, file) !== "";
    } catch (error) {
      if (error instanceof AgentsError) return false;
      throw error;
    }
  });
}

/** Files and links, below the folder, in the order of their names; hidden ones are left out. */
function entriesOf(directory: string): string[] {
  const found: string[] = [];
  const waiting: (readonly [path: string, depth: number])[] = [[directory, 1]];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [path, depth] = next;
    for (const name of readdirSync(path).toSorted()) {
      const facts = lstatSync(join(path, name), { throwIfNoEntry: false });
      if (name.startsWith(".")) continue;
      if (facts?.isDirectory() === true && depth < DEEPEST) waiting.push([join(path, name), depth + 1]);
      if (facts?.isFile() === true || facts?.isSymbolicLink() === true)
        found.push(relative(directory, join(path, name)));
      if (found.length > MOST_FILES) throw refusedError(SKILL_FILE, `has more than ${MOST_FILES} files beside it`);
    }
  }
  return found.toSorted();
}

function refusedError(file: string, why: string): AgentsError {
  return new AgentsError("validation", `${file} ${why}.`, { kept: "Nothing was changed.", detail: { file } });
}
