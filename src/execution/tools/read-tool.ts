/**
 * Reads a file, all of it for a program and a part at a time for a model, with the numbers of its lines. The path of a
 * command's kept output is read like a file.
 */
import * as z from "zod";
import { imageProblem, type ImageFacts, type ImageType } from "../../domain/values/image.ts";
import { imageFacts, imageTypeOf } from "../../platform/image-facts.ts";
import { maskedText } from "../../platform/masking.ts";
import { LINK } from "../../platform/file-state.ts";
import { callOfPath } from "./call-outputs.ts";
import { fileError, fileText } from "./file-text.ts";
import { directoryEntries, entriesText, isDirectory, type DirectoryEntry } from "./list-tool.ts";
import { missingPathError } from "./missing-path.ts";
import { tool, type BuiltInTool, type ToolCall } from "./tool.ts";

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
  | {
      readonly path: string;
      readonly kind: "image";
      readonly type: ImageType;
      readonly size: number;
      readonly width: number;
      readonly height: number;
      /** Missing where no output is kept: then it cannot be shown. */
      readonly sha256?: string;
    };

export const READ_TOOL: BuiltInTool = tool({
  name: "read_file",
  description:
    "Read a text file, with line numbers, or look at an image (png, jpeg, gif, webp); of a symbolic link, where it points; of a directory, what is in it",
  writes: false,
  parameters: z.strictObject({
    path: z.string(),
    offset: z.int().min(0).optional().describe("number of the first line, from 1"),
    limit: z.int().min(1).optional().describe(`how many lines; at most ${LINES} at a time`),
  }),
  paths: ["path"],
  text: readText,
  image: shownImage,
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
    if (forModel && imageTypeOf(state.content) !== undefined) return image(path, state.content, call);
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

async function image(path: string, content: Uint8Array, { by, outputs }: ToolCall): Promise<ReadOutput> {
  const facts = imageFacts(content);
  if (facts === undefined) throw fileError(path, "begins like an image, but cannot be read as one");
  const problem = imageProblem(facts);
  if (problem !== undefined) throw fileError(path, problem);
  const { type, width, height, bytes: size } = facts;
  const kept = outputs === undefined ? {} : { sha256: await outputs.keep(by, content) };
  return { path, kind: "image", type, size, width, height, ...kept };
}

function shownImage(output: ReadOutput): ImageFacts | undefined {
  if (!("kind" in output) || output.kind !== "image" || output.sha256 === undefined) return undefined;
  const { path: name, sha256, type, size: bytes, width, height } = output;
  return { name, sha256, type, bytes, width, height };
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
    const { path, type, width, height, size } = output;
    return `${path} is an image (${type}, ${width}×${height} pixels, ${size} bytes).`;
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
