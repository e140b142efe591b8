/** Lists one directory of the resource. */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { ContainedDirectory } from "../../platform/contained-path.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { fileError } from "./file-text.ts";
import { tool, type BuiltInTool } from "./tool.ts";

export interface DirectoryEntry {
  readonly [key: string]: string;
  readonly name: string;
  readonly kind: "directory" | "link" | "file";
}

export const LIST_TOOL: BuiltInTool = tool({
  name: "list_directory",
  description: "List what is in a directory; find_files lists deeper",
  writes: false,
  parameters: z.strictObject({ path: z.string().optional() }),
  paths: ["path"],
  text: entriesText,
  run: ({ path }, { workspace }) => directoryEntries(workspace, path),
});

export async function directoryEntries(workspace: Workspace, path: string | undefined): Promise<DirectoryEntry[]> {
  const entries = await inDirectory(workspace, path, (directory) => readdir(directory, { withFileTypes: true }));
  return entries
    .filter(({ name }) => name !== ".git")
    .map((entry): DirectoryEntry => ({
      name: entry.name,
      kind: entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "file",
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const ENTRIES_SHOWN = 1_000;

export function entriesText(entries: readonly DirectoryEntry[]): string {
  if (entries.length === 0) return "(the directory is empty)";
  const lines = entries
    .slice(0, ENTRIES_SHOWN)
    .map(({ name, kind }) => (kind === "directory" ? `${name}/` : kind === "link" ? `${name} (link)` : name));
  const more = entries.length > ENTRIES_SHOWN ? [`[${entries.length - ENTRIES_SHOWN} more; use find_files]`] : [];
  return [...lines, ...more].join("\n");
}

export async function isDirectory(workspace: Workspace, path: string): Promise<boolean> {
  if (path === ".") return true;
  const { directory: opened, name } = await ContainedDirectory.of(workspace.sandbox.root, path, {
    create: false,
  }).catch(() => ({ directory: undefined, name: "" }));
  await using directory = opened;
  const found = directory === undefined ? undefined : await lstat(directory.at(name)).catch(() => undefined);
  return found?.isDirectory() === true;
}

async function inDirectory<T>(
  workspace: Workspace,
  file: string | undefined,
  use: (directory: string) => Promise<T>,
): Promise<T> {
  const { root } = workspace.sandbox;
  if (file === undefined || file === ".") return use(root);
  const { directory: opened, name } = await ContainedDirectory.of(root, file, { create: false });
  await using directory = opened;
  const target = directory.at(name);
  const found = await lstat(target).catch(() => undefined);
  if (found?.isDirectory() !== true) throw fileError(file, "is not a directory");
  return await use(join(target, "."));
}
