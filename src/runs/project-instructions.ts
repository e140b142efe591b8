/**
 * The instructions that a project gives to every agent: `AGENTS.md` and its relatives, word for word. The ones at the
 * root of a resource stand in the system prompt; the ones below are told with the first result from their directory.
 */
import { globSync } from "node:fs";
import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, posix, sep } from "node:path";
import type { Instructions } from "../domain/plan/tool-outcome.ts";
import type { JsonObject } from "../domain/values/json.ts";
import { understoodParams, withPlainPaths } from "../execution/tools/tool-params.ts";
import { BUILT_IN_TOOLS, toolKey } from "../execution/tools/tool-set.ts";
import type { Workspace } from "../execution/workspace/workspace.ts";
import { maskedText } from "../platform/masking.ts";

/** The first of these that a directory has counts: projects keep the others as copies or links of it. */
const NAMES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md"] as const;
/** Bytes of all instructions together. */
const LIMIT = 32 * 1024;
/** Bytes. A larger file is not a text for people. */
const LARGEST = 1024 * 1024;

/** Of the user and of the roots of the sandboxes, the nearest last. `own` is the user's file for all projects. */
export async function rootInstructions(
  roots: ReadonlyMap<string, string>,
  own: string | undefined,
): Promise<Instructions[]> {
  const found: Instructions[] = [];
  const text = own === undefined ? undefined : await textOf(dirname(own), basename(own));
  if (text !== undefined) found.push({ path: "your own AGENTS.md", text });
  for (const [alias, root] of roots) {
    const named = await instructionsIn(root, "");
    const prefix = roots.size > 1 ? `${alias}: ` : "";
    found.push(...[...named, ...(await cursorRules(root))].map((one) => ({ ...one, path: `${prefix}${one.path}` })));
  }
  return within(found, LIMIT);
}

/** Instructions of the directories from below the root down to the places that a call names. */
export async function instructionsForCall(
  call: { readonly tool: string; readonly params: JsonObject },
  workspaces: ReadonlyMap<string, Workspace>,
): Promise<Instructions[]> {
  const tool = BUILT_IN_TOOLS.get(toolKey(call.tool));
  if (tool?.paths === undefined) return [];
  const { resource, ...params } = understoodParams(tool, call.params).params;
  const [only] = workspaces.values();
  const workspace = typeof resource === "string" ? workspaces.get(resource) : workspaces.size === 1 ? only : undefined;
  if (workspace === undefined) return [];
  const { root, alias } = workspace.sandbox;
  const plain = withPlainPaths(tool, params, workspace.sandbox);
  const named = tool.paths.flatMap((key) => plain[key] ?? []).filter((path) => typeof path === "string");
  const found = new Map<string, Instructions>();
  for (const path of named) for (const one of await nestedInstructions(root, path)) found.set(one.path, one);
  const prefix = workspaces.size > 1 ? `${alias}: ` : "";
  // A call that reads or writes such a file is about its text already.
  const others = [...found.values()].filter((one) => !named.includes(one.path));
  return within(
    others.map((one) => ({ ...one, path: `${prefix}${one.path}` })),
    LIMIT,
  );
}

async function nestedInstructions(root: string, path: string): Promise<Instructions[]> {
  const found: Instructions[] = [];
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return [];
  for (let depth = 1; depth <= parts.length; depth += 1)
    found.push(...(await instructionsIn(root, parts.slice(0, depth).join("/"))));
  return found;
}

async function instructionsIn(root: string, directory: string): Promise<Instructions[]> {
  for (const name of NAMES) {
    const path = posix.join(directory, name);
    const text = await textOf(root, path);
    if (text !== undefined) return [{ path, text }];
  }
  return [];
}

/** Rules of Cursor that always apply. */
async function cursorRules(root: string): Promise<Instructions[]> {
  const found: Instructions[] = [];
  for (const path of globSync(".cursor/rules/*.mdc", { cwd: root }).toSorted()) {
    const text = await textOf(root, path);
    const [, head = "", body = ""] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text ?? "") ?? [];
    if (/^\s*alwaysApply:\s*true\s*$/m.test(head) && body.trim() !== "") found.push({ path, text: body });
  }
  return found;
}

/** The nearest are kept whole first: they are the last ones. */
function within(found: readonly Instructions[], limit: number): Instructions[] {
  let left = limit;
  const kept = found.toReversed().flatMap(({ path, text }) => {
    const bytes = Buffer.from(text.trim(), "utf8");
    // A letter that the cut goes through is left out.
    const part = bytes
      .subarray(0, left)
      .toString("utf8")
      .replace(/\uFFFD+$/, "");
    left -= Math.min(left, bytes.byteLength);
    if (part === "") return [];
    const cut = part.length < text.trim().length ? "\n[cut here: instructions are read up to 32 KiB]" : "";
    return [{ path, text: `${part}${cut}` }];
  });
  return kept.toReversed();
}

/** A link that leads out of the root is not followed: it would show a model files that are not part of the project. */
async function textOf(root: string, path: string): Promise<string | undefined> {
  try {
    const file = await realpath(join(root, path));
    if (!file.startsWith(`${await realpath(root)}${sep}`)) return undefined;
    const { size, isFile } = await stat(file).then((found) => ({ size: found.size, isFile: found.isFile() }));
    if (!isFile || size > LARGEST) return undefined;
    const text = await readFile(file, "utf8");
    return text.trim() === "" ? undefined : maskedText(text);
  } catch {
    // Not there, or not readable: then the project has no such instructions.
    return undefined;
  }
}
