import type { ToolRef } from "../../domain/names/tool-names.ts";
import { BUILT_IN_TOOLS } from "../../execution/tools/tool-set.ts";

/** Whether a tool can change files; one that is not known may. */
export function toolWrites(tool: ToolRef): boolean {
  return BUILT_IN_TOOLS.get(tool)?.writes ?? true;
}
