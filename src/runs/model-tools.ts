import { parametersOf as jsonSchemaOf } from "../actors/loop/strategy-form.ts";
import type { ModelTool } from "../actors/models/model.ts";
import type { JsonObject } from "../domain/values/json.ts";
import { TOOLS } from "../execution/tools/tool-pipeline.ts";
import type { Tool } from "../execution/tools/tool.ts";
import type { ToolName } from "../domain/names/tool-names.ts";

/**
 * The tools that a model has whose actor names none. Each costs tokens in every call, so what a command or another tool
 * does as well is left out; an actor can name it.
 */
const DEFAULT_TOOLS = [
  "read_file",
  "write_file",
  "edit_file",
  "delete_file",
  "move_file",
  "list_directory",
  "search_files",
  "find_files",
  "git_status",
  "git_diff",
  "rewrite_code",
  "shell_execute",
  "command_output",
  "command_stop",
  "request_context",
  "web_fetch",
] as const satisfies readonly ToolName[];

/**
 * A model that has commands needs none of these; they cost about 100 tokens in every call. Tools that change something
 * stay: a profile may name them.
 */
const COMMANDS_DO: ReadonlySet<string> = new Set<ToolName>(["git_status", "git_diff"]);

/** Models that were trained to change files by patches make fewer mistakes with them than with texts to replace. */
const TRAINED_ON_PATCHES = /(^|\/)(gpt-(?!3|4o|4-)|codex)/i;

/**
 * The tools of the one pipeline as a model is offered them: only those that its actor names and that could succeed in
 * this plan.
 */
export function modelTools(
  named: readonly string[] | undefined,
  plan: {
    readonly resources: readonly string[];
    readonly readOnly: boolean;
    readonly inPlace: boolean;
    /** It may use the network. */
    readonly network: boolean;
    /** The plan's profile does not deny them. */
    readonly commands: boolean;
  },
  model?: string,
): ModelTool[] {
  const offered = new Set<string>(named ?? DEFAULT_TOOLS);
  if (named === undefined && model !== undefined && TRAINED_ON_PATCHES.test(model)) {
    offered.delete("edit_file");
    offered.add("apply_patch");
  }
  const hasCommands = named === undefined && plan.commands && !plan.inPlace && !plan.readOnly;
  return [...TOOLS.values()]
    .filter(({ name }) => offered.has(name) && !(hasCommands && COMMANDS_DO.has(name)))
    .filter(({ writes }) => !(writes && plan.readOnly))
    .filter(({ compared }) => !(compared === true && plan.inPlace))
    .filter((tool) => plan.network || !("web" in tool))
    .filter((tool) => "ask" in tool || plan.resources.length > 0)
    .map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: parametersOf(tool, plan.resources),
    }));
}

function parametersOf(tool: Tool, resources: readonly string[]): JsonObject {
  const schema = jsonSchemaOf(tool.parameters);
  // With only one there is nothing to choose.
  if ("ask" in tool || resources.length === 1) return schema;
  const resource = { type: "string", enum: [...resources], description: "in which resource" };
  const properties = { ...(schema["properties"] as JsonObject | undefined), resource };
  const required = (schema["required"] as readonly string[] | undefined) ?? [];
  return { ...schema, properties, required: [...required, "resource"] };
}
