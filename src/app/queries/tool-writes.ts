import type { ToolName } from "../../domain/names/tool-names.ts";
import { TOOLS } from "../../execution/tools/tool-pipeline.ts";

/** Whether a tool can change files; one that is not known may. */
export function toolWrites(tool: ToolName): boolean {
  return TOOLS.get(tool)?.writes ?? true;
}
