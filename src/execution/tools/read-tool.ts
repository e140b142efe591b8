/**
 * Reads a file, all of it for a program and a part at a time for a model, with the numbers of its lines. The path of a
 * command's kept output is read like a file.
 */
import * as z from "zod";
import { maskedText } from "../../platform/masking.ts";
import { LINK } from "../../platform/file-state.ts";
import { callOfPath } from "./call-outputs.ts";
import { fileError, fileText } from "./file-text.ts";
import { directoryEntries, entriesText, isDirectory, type DirectoryEntry } from "./list-tool.ts";
import { missingPathError } from "./missing-path.ts";
import { tool, type Tool, type ToolCall } from "./tool.ts";

const READ_LIMIT = 10 * 1024 * 1024;
/** The most that a model is given at a time. */
const LINES = 2_000;
const CHARACTERS = 50_000;
const LINE_LENGTH = 2_000;

type ReadOutput =
  | { readonly path: string; readonly content: string }
  | {
      readonly path: string;
      readonly content: string;
      /** Numbers of lines, from 1. */
      readonly first: number;
      readonly last: number;
      readonly total: number;
    }
  | { readonly path: string; readonly kind: "link"; readonly points_to: string }
  | { readonly path: string; readonly kind: "directory"; readonly entries: readonly DirectoryEntry[] }
  | { readonly path: string; readonly kind: "image"; readonly type: string; readonly size: number };

export const READ_TOOL: Tool = tool({
  name: "read_file",
  description:
    "Read a text file, with line numbers; of a symbolic link, where it points; of a directory, what is in it",
  writes: false,
  parameters: z.strictObject({
    path: z.string(),
    offset: z.int().min(0).optional().describe("number of the first line, from 1"),
    limit: z.int().min(1).optional().describe(`how many lines; at most ${LINES} at a time`),
  }),
  paths: ["path"],
  text: readText,
  run: async ({ path, offset, limit }, call): Promise<ReadOutput> => {
    const { workspace, forModel } = call;
    const kept = await keptOutputAt(path, call);
    if (kept !== undefined) return part(path, kept, { offset, limit });
    if (forModel && (await isDirectory(workspace, path)))
      return { path, kind: "directory", entries: await directoryEntries(workspace, path) };
    const state = await workspace.read(path);
    if (state === undefined) throw await missingPathError(workspace, path);
    // A link's content is a path, not the text that the caller wants to read; its target may be outside.
    if (state.mode === LINK) return { path, kind: "link", points_to: Buffer.from(state.content).toString("utf8") };
    const type = forModel ? imageType(state.content) : undefined;
    if (type !== undefined) return { path, kind: "image", type, size: state.content.byteLength };
    if (state.content.byteLength > READ_LIMIT) throw fileError(path, "is larger than 10 MiB");
    const text = fileText(state.content, path);
    if (!forModel && offset === undefined && limit === undefined) return { path, content: text };
    return part(path, maskedText(text), { offset, limit });
  },
});

/** The whole output of an earlier command, when the path stands for one. */
export async function keptOutputAt(path: string, { outputs }: Pick<ToolCall, "outputs">): Promise<string | undefined> {
  const by = callOfPath(path);
  return by === undefined ? undefined : outputs?.read(by);
}

function part(
  path: string,
  text: string,
  { offset = 1, limit = LINES }: { readonly offset: number | undefined; readonly limit: number | undefined },
): ReadOutput {
  const lines = linesOf(text);
  const first = Math.max(1, offset);
  if (first > lines.length && first > 1) throw fileError(path, `has only ${lines.length} lines`);
  const taken: string[] = [];
  let size = 0;
  for (const line of lines.slice(first - 1, first - 1 + Math.min(limit, LINES))) {
    const cut =
      line.length <= LINE_LENGTH ? line : `${line.slice(0, LINE_LENGTH).toWellFormed()}… (${line.length} characters)`;
    size += cut.length + 1;
    if (size > CHARACTERS && taken.length > 0) break;
    taken.push(cut);
  }
  return { path, content: taken.join("\n"), first, last: first - 1 + taken.length, total: lines.length };
}

/** Without the empty one behind the last line end. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function readText(output: ReadOutput): string {
  if ("kind" in output) {
    if (output.kind === "link") return `${output.path} is a symbolic link to ${output.points_to}`;
    if (output.kind === "directory") return entriesText(output.entries);
    return `${output.path} is an image (${output.type}, ${output.size} bytes); it cannot be shown as text.`;
  }
  if (!("first" in output)) return output.content;
  const { first, last, total, content } = output;
  if (total === 0) return "(the file is empty)";
  const crlf = content.includes("\r\n") || content.endsWith("\r") ? "[its lines end in CR LF]\n" : "";
  const lines = content.split("\n").map((line, index) => `${first + index}→${line.replace(/\r$/, "")}`);
  const more = last < total ? `; continue with offset ${last + 1}` : "";
  const note = first > 1 || last < total ? `\n[lines ${first}–${last} of ${total}${more}]` : "";
  return `${crlf}${lines.join("\n")}${note}`;
}

const IMAGES: readonly (readonly [type: string, start: readonly number[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
];

function imageType(content: Uint8Array): string | undefined {
  const known = IMAGES.find(([, start]) => start.every((byte, index) => content[index] === byte));
  if (known !== undefined) return known[0];
  const text = Buffer.from(content.subarray(0, 12)).toString("latin1");
  return text.startsWith("RIFF") && text.endsWith("WEBP") ? "image/webp" : undefined;
}
