/**
 * The instructions that a project gives to every agent: `AGENTS.md` and its relatives, word for word. The ones at the
 * root of a resource stand in the system prompt; the ones below are told with the first result from their directory.
 */
import { globSync } from "node:fs";
import { readFile, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join, posix, sep } from "node:path";
import type { Instructions } from "../actors/loop/briefing.ts";

/** The first of these that a directory has counts: projects keep the others as copies or links of it. */
const NAMES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md"] as const;
/** Characters of all instructions together. */
const LIMIT = 32 * 1024;
/** Bytes. A larger file is not a text for people. */
const LARGEST = 1024 * 1024;

/** Of the user and of the roots of the sandboxes, the nearest last. */
export async function rootInstructions(
  roots: ReadonlyMap<string, string>,
  home: string = homedir(),
): Promise<Instructions[]> {
  const found: Instructions[] = [];
  const own = await textOf(home, ".config/cleveragents/AGENTS.md");
  if (own !== undefined) found.push({ path: "your own AGENTS.md", text: own });
  for (const [alias, root] of roots) {
    const named = await instructionsIn(root, "");
    const prefix = roots.size > 1 ? `${alias}: ` : "";
    found.push(...[...named, ...(await cursorRules(root))].map((one) => ({ ...one, path: `${prefix}${one.path}` })));
  }
  return within(found, LIMIT);
}

/** Instructions of the directories between the root and the file, without those of the root itself. */
export async function nestedInstructions(root: string, file: string): Promise<Instructions[]> {
  const found: Instructions[] = [];
  const parts = posix
    .dirname(file)
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return [];
  for (let depth = 1; depth <= parts.length; depth += 1)
    found.push(...(await instructionsIn(root, parts.slice(0, depth).join("/"))));
  return within(found, LIMIT);
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
    const [, head = "", body = ""] = /^---\n([\s\S]*?)\n---\n?([\s\S]*)$/.exec(text ?? "") ?? [];
    if (/^\s*alwaysApply:\s*true\s*$/m.test(head) && body.trim() !== "") found.push({ path, text: body });
  }
  return found;
}

function within(found: readonly Instructions[], limit: number): Instructions[] {
  let left = limit;
  return found.flatMap(({ path, text }) => {
    const kept = text.trim().slice(0, left).toWellFormed();
    left -= kept.length;
    if (kept === "") return [];
    const cut = kept.length < text.trim().length ? "\n[cut here: instructions are read up to 32 KiB]" : "";
    return [{ path, text: `${kept}${cut}` }];
  });
}

/** A link that leads out of the root is not followed: it would show a model files that are not part of the project. */
async function textOf(root: string, path: string): Promise<string | undefined> {
  try {
    const file = await realpath(join(root, path));
    if (!file.startsWith(`${await realpath(root)}${sep}`)) return undefined;
    const { size, isFile } = await stat(file).then((found) => ({ size: found.size, isFile: found.isFile() }));
    if (!isFile || size > LARGEST) return undefined;
    const text = await readFile(file, "utf8");
    return text.trim() === "" ? undefined : text;
  } catch {
    // Not there, or not readable: then the project has no such instructions.
    return undefined;
  }
}
