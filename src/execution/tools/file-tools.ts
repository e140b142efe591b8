/**
 * The tools on single files. Each write goes through the workspace and is recorded as it happens, so calls may run
 * side by side.
 */
import { lstat, mkdir } from "node:fs/promises";
import * as z from "zod";
import { ContainedDirectory, ifCode } from "../../platform/contained-path.ts";
import { EXECUTABLE, LINK, REGULAR, stateHash, type FileState } from "../../platform/file-state.ts";
import { tool, type BuiltInTool } from "./tool.ts";
import { notThereError, occupiedError } from "../workspace/workspace-failures.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { brokenSyntax } from "./changed-file.ts";
import { writtenText } from "./edit-tool.ts";
import { refuseMasks } from "./masks.ts";
import { missingPathError } from "./missing-path.ts";

const path = z.string();

type Written = { readonly path: string; readonly size: number; readonly problems?: readonly string[] };

/** Tools on single files. Each write is recorded as it happens, so they may run side by side. */
export const FILE_TOOLS: readonly BuiltInTool[] = [
  tool({
    name: "write_file",
    description: "Create a file or replace its content; with append, add to its end. To change a part, use edit_file",
    writes: true,
    parameters: z.strictObject({
      path,
      content: writtenText,
      append: z.boolean().default(false),
      mode: z.enum(["644", "755"]).optional(),
    }),
    paths: ["path"],
    text: ({ path, size, problems = [] }: Written) =>
      [`Wrote ${path} (${size} bytes).`, ...(problems.length === 0 ? [] : ["It does not parse:", ...problems])].join(
        "\n",
      ),
    run: async ({ path, content, append, mode }, { workspace, by, forModel, syntax }): Promise<Written> => {
      let [before, after]: [string | undefined, Buffer] = [undefined, Buffer.from(content, "utf8")];
      await workspace.change(by, path, (state) => {
        refuseMasks(content, state, path);
        if (state !== undefined && state.mode !== LINK) before = Buffer.from(state.content).toString("utf8");
        if (append && state !== undefined) {
          if (state.mode === LINK) throw notThereError(path);
          after = Buffer.concat([state.content, after]);
        }
        return { content: after, mode: modeOf(mode, state) };
      });
      const size = after.byteLength;
      if (!forModel || append) return { path, size };
      return { path, size, problems: await brokenSyntax(syntax, path, before, after.toString("utf8")) };
    },
  }),
  tool({
    name: "delete_file",
    description: "Delete a file",
    writes: true,
    parameters: z.strictObject({ path }),
    paths: ["path"],
    text: ({ path }: { readonly path: string }) => `Deleted ${path}.`,
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
    text: ({ path, to }: { readonly path: string; readonly to: string }) => `Moved ${path} to ${to}.`,
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
