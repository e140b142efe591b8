/**
 * The tools of a plan: the built-in ones, and those that were added to it. A set is made for a plan's attempt and does
 * not change; everything that asks about a tool asks the set.
 */
import { nearest } from "../../domain/text/suggest.ts";
import { toolWord } from "../../domain/names/tool-names.ts";
import { BACKGROUND_TOOLS } from "./background-tools.ts";
import { CONTEXT_TOOLS } from "./context-tools.ts";
import { EDIT_TOOL } from "./edit-tool.ts";
import { FILE_TOOLS } from "./file-tools.ts";
import { GIT_TOOLS } from "./git-tools.ts";
import { LIST_TOOL } from "./list-tool.ts";
import { PATCH_TOOL } from "./patch-tool.ts";
import { READ_TOOL } from "./read-tool.ts";
import { REWRITE_TOOL } from "./rewrite-tool.ts";
import { FIND_TOOL, SEARCH_TOOL } from "./search-tool.ts";
import { SHELL_TOOL } from "./shell-tool.ts";
import { WEB_TOOL } from "./web-tool.ts";
import type { AddedTool, BuiltInTool, Tool } from "./tool.ts";

const BUILT_IN: readonly BuiltInTool[] = [
  READ_TOOL,
  ...FILE_TOOLS,
  EDIT_TOOL,
  PATCH_TOOL,
  LIST_TOOL,
  SEARCH_TOOL,
  FIND_TOOL,
  ...GIT_TOOLS,
  REWRITE_TOOL,
  SHELL_TOOL,
  ...BACKGROUND_TOOLS,
  ...CONTEXT_TOOLS,
  WEB_TOOL,
];

export class ToolSet implements Iterable<Tool> {
  readonly #byKey: ReadonlyMap<string, Tool>;

  /** Of two added tools with one name the first counts. */
  constructor(added: readonly AddedTool[] = []) {
    const tools = new Map<string, Tool>(BUILT_IN.map((tool) => [tool.name, tool]));
    for (const tool of added) if (!tools.has(toolKey(tool.name))) tools.set(toolKey(tool.name), tool);
    this.#byKey = tools;
  }

  /** The tool of this name, however it is spelled. */
  get(name: string): Tool | undefined {
    return this.#byKey.get(toolKey(name));
  }

  /** Built-in tools first. */
  [Symbol.iterator](): Iterator<Tool> {
    return this.#byKey.values();
  }

  /** The names of the tools that change nothing. */
  get reading(): ReadonlySet<string> {
    return new Set([...this].flatMap(({ name, writes }) => (writes ? [] : [name])));
  }

  nearest(name: string): string | undefined {
    const names = [...this].map((tool) => tool.name);
    return nearest(name, names) ?? names.find((one) => one.endsWith(`/${name}`));
  }
}

/** The same for all spellings of a name; those of built-in tools are in lower case. */
export function toolKey(name: string): string {
  return name.includes("/") ? toolWord(name).toLowerCase() : toolWord(name);
}

export const BUILT_IN_TOOLS: ReadonlyMap<string, BuiltInTool> = new Map(BUILT_IN.map((tool) => [tool.name, tool]));
/** The set of a plan to which nothing was added. */
export const ONLY_BUILT_IN: ToolSet = new ToolSet();
