import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { SandboxTarget } from "../../src/execution/sandbox/sandbox.ts";

export interface ChangesSize {
  readonly rounds: number;
  /** Of all numbers of files, the part that is measured. */
  readonly share: number;
}

/** The repositories that are measured on: files of about 2 KB, a hundred in each directory. */
export const ALIAS = "api";

export function target(path: string): SandboxTarget {
  return { alias: ALIAS, strategy: "git_worktree", path, branch: undefined, readOnly: false };
}

export async function repository(dir: string, files: number): Promise<string> {
  const path = join(dir, "origin");
  for (let index = 0; index < files; index += 1) {
    const file = join(path, pathOf(index));
    if (index % 100 === 0) await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text(0, index));
  }
  await git(path, "init", "--quiet");
  for (const [key, value] of [
    ["user.name", "Bench"],
    ["user.email", "bench@example.org"],
    ["gc.auto", "0"],
  ] as const)
    await git(path, "config", key, value);
  await writeFile(join(path, ".gitignore"), "*.log\nbuild/\nnode_modules/\n");
  await git(path, "add", "--all");
  await git(path, "commit", "--quiet", "--message=first");
  await git(path, "gc", "--quiet");
  return path;
}

function pathOf(index: number): string {
  return `${String(Math.trunc(index / 100)).padStart(2, "0")}/${index}.txt`;
}

/** A pattern of the shell for the first so many files: hundreds, up to a thousand. */
export function firstFiles(count: number): string {
  return `0[0-${count / 100 - 1}]/*.txt`;
}

/** About 2 KB, different for each file. */
export function text(round: number, index: number): string {
  return Array.from({ length: 60 }, (_, line) => `line ${line} of file ${index} in round ${round}\n`).join("");
}

export async function git(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("git", args, { cwd, maxBuffer: 1e9 });
  return stdout.trimEnd();
}
