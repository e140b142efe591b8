/**
 * The tools on single files. Each write goes through the workspace and is recorded as it happens, so calls may run
 * side by side.
 */
import { lstat, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { AgentsError } from "../../domain/errors/errors.ts";
import { matching, TOO_SLOW } from "../../domain/text/patient-match.ts";
import { holdsMask } from "../../domain/secrets/redaction.ts";
import { shown } from "../../domain/text/text.ts";
import { maskedText } from "../../platform/masking.ts";
import { ContainedDirectory, ifCode } from "../../platform/contained-path.ts";
import { EXECUTABLE, LINK, REGULAR, stateHash, type FileState } from "../../platform/file-state.ts";
import { tool, type Tool } from "./tool.ts";
import { notThereError, occupiedError } from "../workspace/workspace-failures.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { refuseMasks } from "./masks.ts";

const path = z.string();
/** Written text is read back as it was given: half a surrogate pair has no bytes. */
const content = z.string().refine((given) => given.isWellFormed(), "contains half of a surrogate pair");
const READ_LIMIT = 10 * 1024 * 1024;

/** Tools on single files. Each write is recorded as it happens, so they may run side by side. */
export const FILE_TOOLS: readonly Tool[] = [
  tool({
    name: "read_file",
    description: "Read a text file; of a symbolic link, where it points",
    writes: false,
    parameters: z.strictObject({ path }),
    run: async ({ path }, { workspace }) => {
      const { content, mode } = await existing(workspace, path);
      // A link's content is a path, not the text that the caller wants to read; its target may be outside.
      if (mode === LINK) return { path, kind: "link", points_to: Buffer.from(content).toString("utf8") };
      if (content.byteLength > READ_LIMIT) throw fileError(path, "is larger than 10 MiB");
      return { path, content: text(content, path) };
    },
  }),
  tool({
    name: "write_file",
    description: "Create a file or replace its content",
    writes: true,
    parameters: z.strictObject({ path, content, mode: z.enum(["644", "755"]).optional() }),
    run: async ({ path, content, mode }, { workspace, by }) => {
      const bytes = Buffer.from(content, "utf8");
      await workspace.change(by, path, (before) => {
        refuseMasks(content, before, path);
        return { content: bytes, mode: modeOf(mode, before) };
      });
      return { path, size: bytes.byteLength };
    },
  }),
  tool({
    name: "edit_file",
    description: "Replace a text in a file; it must be there exactly once, or all is set",
    writes: true,
    parameters: z.strictObject({ path, old: z.string().min(1), new: content, all: z.boolean().default(false) }),
    run: async ({ path, old, new: replacement, all }, { workspace, by }) => {
      let replaced = 0;
      await workspace.change(by, path, (before) => {
        if (before === undefined || before.mode === LINK) throw notThereError(path);
        refuseMasks(replacement, before, path);
        const parts = text(before.content, path).split(old);
        replaced = parts.length - 1;
        if (replaced === 0) {
          const why = holdsMask(old)
            ? "; a masked secret stands for another text, so leave it out of what is replaced"
            : "";
          throw fileError(path, `does not contain ${shown(old)}${why}`);
        }
        if (replaced > 1 && !all)
          throw fileError(path, `contains ${shown(old)} ${replaced} times; say all: true to replace each`);
        return { ...before, content: Buffer.from(parts.join(replacement), "utf8") };
      });
      return { path, replaced };
    },
  }),
  tool({
    name: "delete_file",
    description: "Delete a file",
    writes: true,
    parameters: z.strictObject({ path }),
    run: async ({ path }, { workspace, by }) => {
      await workspace.change(by, path, (before) => {
        if (before === undefined) throw notThereError(path);
        return undefined;
      });
      return { path };
    },
  }),
  tool({
    name: "move_file",
    description: "Move or rename a file to a path where none is",
    writes: true,
    parameters: z.strictObject({ path, to: path }),
    run: async ({ path, to }, { workspace, by }) => {
      await workspace.move(by, path, to);
      return { path, to };
    },
  }),
  tool({
    name: "copy_file",
    description: "Copy a file to a path where none is",
    writes: true,
    parameters: z.strictObject({ path, to: path }),
    run: async ({ path, to }, { workspace, by }) => {
      const state = await existing(workspace, path);
      await workspace.change(by, to, (before) => {
        if (before !== undefined) throw occupiedError(to);
        return state;
      });
      return { path, to };
    },
  }),
  tool({
    name: "get_file_info",
    description: "Tell size, mode and hash of a file",
    writes: false,
    parameters: z.strictObject({ path }),
    run: async ({ path }, { workspace }) => {
      const state = await existing(workspace, path);
      const kind = state.mode === LINK ? "link" : "file";
      return {
        path,
        kind,
        size: state.content.byteLength,
        executable: state.mode === EXECUTABLE,
        sha256: stateHash(state),
      };
    },
  }),
  tool({
    name: "list_directory",
    description: "List what is in a directory",
    writes: false,
    parameters: z.strictObject({ path: path.optional() }),
    run: async ({ path }, { workspace }) => {
      const entries = await inDirectory(workspace, path, (directory) => readdir(directory, { withFileTypes: true }));
      return entries
        .filter(({ name }) => name !== ".git")
        .map((entry) => ({
          name: entry.name,
          kind: entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "file",
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },
  }),
  tool({
    name: "create_directory",
    description: "Create a directory (git keeps it only once it holds a file)",
    writes: true,
    parameters: z.strictObject({ path }),
    run: async ({ path }, { workspace }) => {
      await workspace.assertWritable(path);
      const { directory: opened, name } = await ContainedDirectory.of(workspace.sandbox.root, path, { create: true });
      await using directory = opened;
      await mkdir(directory.at(name)).catch(ifCode("EEXIST"));
      if (!(await lstat(directory.at(name))).isDirectory()) throw occupiedError(path);
      return { path };
    },
  }),
  tool({
    name: "delete_directory",
    description: "Delete a directory with all it holds but ignored files",
    writes: true,
    parameters: z.strictObject({ path }),
    run: async ({ path }, { workspace, by }) => {
      const deleted = await workspace.removeDirectory(by, path);
      return { path, deleted };
    },
  }),
  tool({
    name: "search_files",
    description: "Find lines that match a regular expression",
    writes: false,
    parameters: z.strictObject({
      pattern: z.string().min(1).max(1000),
      path: path.optional(),
      limit: z.int().min(1).max(10_000).default(200),
    }),
    run: ({ pattern, path, limit }, { workspace, signal }) =>
      searchFiles(workspace, { expression: expressionOf(pattern), path, limit, signal }),
  }),
];

interface Found {
  readonly [key: string]: string | number;
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

interface FileLine extends Found {
  /** All that is in the file. */
  readonly file: string;
}

/** Looks at several files at once: each look costs a third of a millisecond besides. */
const SEARCHED_AT_ONCE = 64;

async function searchFiles(
  workspace: Workspace,
  wanted: { expression: RegExp; path: string | undefined; limit: number; signal: AbortSignal },
): Promise<Found[]> {
  const { expression, path, limit, signal } = wanted;
  const files = [...(await workspace.look()).keys()].filter(
    (file) => path === undefined || path === "." || file === path || file.startsWith(`${path}/`),
  );
  const found: Found[] = [];
  for (let next = 0; next < files.length && found.length < limit; next += SEARCHED_AT_ONCE) {
    signal.throwIfAborted();
    const lines = await linesOf(workspace, files.slice(next, next + SEARCHED_AT_ONCE));
    const hits = matching(
      expression,
      lines.map(({ text }) => text),
    );
    if (hits === undefined)
      throw new AgentsError("tool_failed", `The pattern ${shown(expression.source)} ${TOO_SLOW}.`);
    found.push(...withoutSecrets(hits.flatMap((hit) => lines[hit] ?? [])));
  }
  return found.slice(0, limit).map(({ path, line, text }) => ({ path, line, text: text.slice(0, 500) }));
}

/**
 * Of a key that goes over several lines none looks like a secret by itself, so they are masked as part of their file.
 */
function withoutSecrets(found: readonly FileLine[]): Found[] {
  const files = new Map(
    [...Map.groupBy(found, ({ path }) => path)].map(([path, [first]]) => [
      path,
      maskedText(first?.file ?? "").split("\n"),
    ]),
  );
  return found.map(({ path, line }) => ({ path, line, text: files.get(path)?.[line - 1] ?? "" }));
}

async function linesOf(workspace: Workspace, files: readonly string[]): Promise<FileLine[]> {
  const lines: FileLine[] = [];
  for (const path of files) {
    const state = await workspace.read(path);
    if (state === undefined || state.mode === LINK || state.content.includes(0)) continue;
    const file = Buffer.from(state.content).toString("utf8");
    for (const [index, text] of file.split("\n").entries()) lines.push({ path, line: index + 1, text, file });
  }
  return lines;
}

function expressionOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch (error) {
    throw new AgentsError("tool_failed", `${shown(pattern)} is not a regular expression.`, { cause: error });
  }
}

async function existing(workspace: Workspace, file: string): Promise<FileState> {
  const state = await workspace.read(file);
  if (state === undefined) throw notThereError(file);
  return state;
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

/** Text is UTF-8 that comes back as the same bytes; anything else would be damaged by passing through a string. */
function text(content: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch (error) {
    throw fileError(file, "is not UTF-8 text", error);
  }
}

function modeOf(wanted: "644" | "755" | undefined, before: FileState | undefined): number {
  if (wanted !== undefined) return wanted === "755" ? EXECUTABLE : REGULAR;
  return before?.mode === EXECUTABLE ? EXECUTABLE : REGULAR;
}

function fileError(file: string, why: string, cause?: unknown): AgentsError {
  return new AgentsError("tool_failed", `${shown(file)} ${why}.`, {
    cause,
    kept: "Nothing was changed.",
    detail: { path: file },
  });
}
