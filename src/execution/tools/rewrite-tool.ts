/**
 * The tool that rewrites code by its structure, in one or many files; nothing is written before every file has been
 * rewritten in memory.
 */
import { isUtf8 } from "node:buffer";
import * as z from "zod";
import { AgentsError } from "../../domain/errors/errors.ts";
import { relativePathProblem } from "../../domain/plan/change-entry.ts";
import { shown } from "../../domain/text/text.ts";
import { refusedPathError } from "../../platform/contained-path.ts";
import { LINK, type FileState } from "../../platform/file-state.ts";
import { tool, type BuiltInTool } from "./tool.ts";
import { notThereError } from "../workspace/workspace-failures.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { refuseMasks } from "./masks.ts";
import { LANGUAGES, rewriter, type RewriteLanguage } from "./structural-rewrite.ts";

const KNOWN = Object.keys(LANGUAGES) as RewriteLanguage[];

/** In any case of letters: people write "typescript". */
const language = z.string().transform((given, context): RewriteLanguage => {
  const found = KNOWN.find((name) => name.toLowerCase() === given.toLowerCase());
  if (found !== undefined) return found;
  context.addIssue({ code: "custom", message: `${shown(given)} cannot be rewritten; there are ${KNOWN.join(", ")}` });
  return z.NEVER;
});

/** All files are rewritten in memory first: a pattern that does not fit one of them changes none. */
export const REWRITE_TOOL: BuiltInTool = tool({
  name: "rewrite_code",
  description:
    "Search and replace by structure: $A stands for one node, $$$ARGS for several. A node that the pattern describes only in part stays as it is",
  writes: true,
  parameters: z.strictObject({
    language,
    pattern: z.string().min(1).max(10_000),
    rewrite: z.string().max(100_000),
    paths: z.array(z.string()).min(1).optional(),
  }),
  paths: ["paths"],
  text: ({ message }: { readonly message: string }) => message,
  run: async ({ language, pattern, rewrite, paths }, { workspace, by, signal }) => {
    const rewritten = await rewriter(language, pattern, rewrite);
    const candidates = await filesOf(workspace, language, paths);
    const changes: { path: string; before: FileState; after: Uint8Array; replacements: number }[] = [];
    const partial: { path: string; lines: readonly number[] }[] = [];
    for (const path of candidates) {
      signal.throwIfAborted();
      const before = await workspace.read(path);
      if (before === undefined || before.mode === LINK || !isText(before.content)) continue;
      const result = rewritten(Buffer.from(before.content).toString("utf8"), path);
      if (result === undefined) continue;
      if (result.partial.length > 0) partial.push({ path, lines: result.partial });
      if (result.replacements === 0) continue;
      refuseMasks(rewrite, before, path);
      changes.push({ path, before, after: Buffer.from(result.text, "utf8"), replacements: result.replacements });
    }
    for (const { path, before, after } of changes) {
      await workspace.change(by, path, (now) => {
        if (now === undefined || Buffer.compare(now.content, before.content) !== 0) throw changedMeanwhileError(path);
        return { ...now, content: after };
      });
    }
    const replacements = changes.reduce((sum, change) => sum + change.replacements, 0);
    const files = changes.map(({ path, replacements }) => ({ path, replacements }));
    const message =
      replacements === 0
        ? `Nothing was replaced in ${candidates.length} files.`
        : `${replacements} replaced in ${files.length} of ${candidates.length} files.`;
    if (partial.length === 0) return { language, replacements, files, message };
    return { language, replacements, files, partial, message: `${message} ${leftAlone(partial)}` };
  },
});

/** Files named by their path are read with any ending; in a directory, those with an ending of the language. */
async function filesOf(
  workspace: Workspace,
  language: RewriteLanguage,
  paths: readonly string[] = ["."],
): Promise<string[]> {
  const all = [...(await workspace.look()).keys()];
  const endings: readonly string[] = LANGUAGES[language];
  const chosen = new Set<string>();
  for (const path of paths) {
    const problem = path === "." ? undefined : relativePathProblem(path);
    if (problem !== undefined) throw refusedPathError(path, problem);
    const below = path === "." ? all : all.filter((file) => file.startsWith(`${path}/`));
    if (all.includes(path)) chosen.add(path);
    else if (below.length === 0 && path !== ".") throw notThereError(path);
    for (const file of below) if (endings.includes(file.slice(file.lastIndexOf(".") + 1))) chosen.add(file);
  }
  return [...chosen].sort();
}

function leftAlone(partial: readonly { path: string; lines: readonly number[] }[]): string {
  const count = partial.reduce((sum, { lines }) => sum + lines.length, 0);
  const [first] = partial;
  return `Left as they were: ${count} places that fit the pattern only in part, the first at ${first?.path}:${first?.lines[0]}. Write all of such a place into the pattern, or change it by hand.`;
}

/** A file whose text would not come back as the same bytes is left alone. */
function isText(content: Uint8Array): boolean {
  return isUtf8(content) && !content.includes(0);
}

function changedMeanwhileError(path: string): AgentsError {
  return new AgentsError("tool_failed", `${shown(path)} was changed by another step while it was being rewritten.`, {
    detail: { path },
  });
}
