/**
 * A program that is installed on this machine: where it is, how it is started, and which directories it must be able to
 * read. A script for Node is started by the Node that runs us, because the user's own may be too old for it.
 */
import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, sep } from "node:path";
import { findProgram } from "../../platform/programs.ts";
import type { Environment } from "../../domain/values/environment.ts";

export interface InstalledProgram {
  /** As it was found. */
  readonly path: string;
  /** The beginning of its command, from an absolute path on. */
  readonly command: readonly string[];
  readonly readable: readonly string[];
}

const NODE_SCRIPT = /^#!\s*\S*(?:\/env\s+(?:-S\s+)?node|\/node)\b/;

/** A word is looked for on the PATH; a path is taken as it is. */
export function installedProgram(word: string, environment: Environment): InstalledProgram | undefined {
  const path = isAbsolute(word) ? word : findProgram(word, environment["PATH"]);
  if (path === undefined || !isFile(path)) return undefined;
  const real = realpathSync(path);
  const own = [installationOf(real)];
  if (!NODE_SCRIPT.test(beginning(real))) return { path, command: [path], readable: own };
  return { path, command: [process.execPath, real], readable: [...own, nodeDirectory()] };
}

/** Of the Node that runs us. */
export function nodeDirectory(): string {
  return dirname(realpathSync(process.execPath));
}

/**
 * The part of a script that a command names which must be shown: its package, or without one the file alone.
 * A directory that holds the user's home would show too much.
 */
export function shownScript(word: string): string[] {
  if (!isAbsolute(word) || !existsSync(word)) return [];
  const real = realpathSync(word);
  if (!isFile(real)) return [word, real];
  const parts = real.split(sep);
  if (parts.includes("node_modules")) return [word, installationOf(real)];
  for (let directory = dirname(real); !holdsHome(directory); directory = dirname(directory))
    if (existsSync(join(directory, "package.json"))) return [word, directory];
  return [word, real];
}

function holdsHome(directory: string): boolean {
  const home = realpathSync(homedir());
  return home === directory || home.startsWith(directory === sep ? sep : `${directory}${sep}`) || directory === sep;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** A package needs those it depends on, which lie beside it; another program the files beside it. */
function installationOf(path: string): string {
  const parts = path.split(sep);
  const top = parts.indexOf("node_modules");
  return top === -1 ? dirname(path) : parts.slice(0, top + 1).join(sep);
}

function beginning(path: string): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(128);
    return bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}
