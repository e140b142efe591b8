/**
 * The tools on single files. Each write goes through the workspace and is recorded as it happens, so calls may run
 * side by side.
 */
import { lstat, mkdir } from "node:fs/promises";
import * as z from "zod";
import { holdsMask } from "../../domain/secrets/redaction.ts";
import { shown } from "../../domain/text/text.ts";
import { ContainedDirectory, ifCode } from "../../platform/contained-path.ts";
import { EXECUTABLE, LINK, REGULAR, stateHash, type FileState } from "../../platform/file-state.ts";
import { tool, type Tool } from "./tool.ts";
import { notThereError, occupiedError } from "../workspace/workspace-failures.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { fileError, fileText } from "./file-text.ts";
import { refuseMasks } from "./masks.ts";
import { missingPathError } from "./missing-path.ts";

const path = z.string();
/** Written text is read back as it was given: half a surrogate pair has no bytes. */
const content = z.string().refine((given) => given.isWellFormed(), "contains half of a surrogate pair");

/** Tools on single files. Each write is recorded as it happens, so they may run side by side. */
export const FILE_TOOLS: readonly Tool[] = [
  tool({
    name: "write_file",
    description: "Create a file or replace its content",
    writes: true,
    parameters: z.strictObject({ path, content, mode: z.enum(["644", "755"]).optional() }),
    paths: ["path"],
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
    paths: ["path"],
    run: async ({ path, old, new: replacement, all }, { workspace, by }) => {
      let replaced = 0;
      await workspace.change(by, path, (before) => {
        if (before === undefined || before.mode === LINK) throw notThereError(path);
        refuseMasks(replacement, before, path);
        const parts = fileText(before.content, path).split(old);
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
    paths: ["path"],
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
    paths: ["path", "to"],
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
    paths: ["path", "to"],
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
    paths: ["path"],
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
    name: "create_directory",
    description: "Create a directory (git keeps it only once it holds a file)",
    writes: true,
    parameters: z.strictObject({ path }),
    paths: ["path"],
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
    paths: ["path"],
    run: async ({ path }, { workspace, by }) => {
      const deleted = await workspace.removeDirectory(by, path);
      return { path, deleted };
    },
  }),
];

async function existing(workspace: Workspace, file: string): Promise<FileState> {
  const state = await workspace.read(file);
  if (state === undefined) throw await missingPathError(workspace, file);
  return state;
}

function modeOf(wanted: "644" | "755" | undefined, before: FileState | undefined): number {
  if (wanted !== undefined) return wanted === "755" ? EXECUTABLE : REGULAR;
  return before?.mode === EXECUTABLE ? EXECUTABLE : REGULAR;
}
