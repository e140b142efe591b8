import { TOOL_NAMES, toolWord } from "../names/tool-names.ts";
import { shown } from "../text/text.ts";
import { suggested } from "./checked-schema.ts";

/** The problem of a definition that names a tool which is not built in and has no namespace. */
export function unknownTool(text: string): { readonly message: string; readonly suggestion?: string } {
  const near = suggested(toolWord(text), TOOL_NAMES);
  const hint = near.suggestion === undefined ? "; one that is not built in is written with its namespace" : "";
  return { message: `there is no tool ${shown(text)}${hint}`, ...near };
}
