import { parametersOf as jsonSchemaOf } from "../actors/loop/strategy-form.ts";
import type { ModelTool } from "../actors/models/model.ts";
import type { AcpActorDefinition } from "../domain/actor/acp-actor.ts";
import type { Tell } from "../domain/run-event.ts";
import type { JsonObject } from "../domain/values/json.ts";
import { resourceKey } from "../execution/tools/added-call.ts";
import { toolKey, type ToolSet } from "../execution/tools/tool-set.ts";
import { isAdded, type Tool } from "../execution/tools/tool.ts";
import { namesMcpTool } from "../domain/names/mcp-tool-name.ts";
import { SKILL_TOOL, type ToolName } from "../domain/names/tool-names.ts";

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
    readonly tools: ToolSet;
    readonly resources: readonly string[];
    readonly readOnly: boolean;
    readonly inPlace: boolean;
    /** It may use the network. */
    readonly network: boolean;
    /** The plan's profile does not deny them. */
    readonly commands: boolean;
  },
  model?: string,
  skills?: readonly string[],
): ModelTool[] {
  const offered = new Set<string>((named ?? DEFAULT_TOOLS).map(toolKey));
  if (named === undefined && model !== undefined && TRAINED_ON_PATCHES.test(model)) {
    offered.delete("edit_file");
    offered.add("apply_patch");
  }
  const hasCommands = named === undefined && plan.commands && !plan.inPlace && !plan.readOnly;
  return [...plan.tools]
    .filter(
      (tool) =>
        offered.has(toolKey(tool.name)) ||
        (tool.name === SKILL_TOOL && skills !== undefined) ||
        (isAdded(tool) && (named?.some((given) => namesMcpTool(toolKey(given), tool.name)) ?? true)),
    )
    .filter(({ name }) => !(name === SKILL_TOOL && skills?.length === 0))
    .filter(({ name }) => !(hasCommands && COMMANDS_DO.has(name)))
    .filter(({ writes }) => !(writes && plan.readOnly))
    .filter(({ compared }) => !(compared === true && plan.inPlace))
    .filter((tool) => plan.network || !("web" in tool))
    .filter((tool) => "ask" in tool || plan.resources.length > 0)
    .map((tool) => ({
      name: tool.name,
      description: descriptionOf(tool, skills),
      parameters: parametersOf(tool, plan.resources),
    }));
}

/** The tools of a node of a graph: it reads skills only when it names the tool for it. */
export function nodeTools(
  named: readonly string[],
  plan: Parameters<typeof modelTools>[1],
  skills: readonly string[] | undefined,
): ModelTool[] {
  return modelTools(named, plan, undefined, named.map(toolKey).includes(SKILL_TOOL) ? skills : []);
}

/** The tools that an outside agent is offered: it has the files to itself while it works. */
export function offeredTools(
  { name: actor, tools: named = [], skills }: AcpActorDefinition,
  plan: Parameters<typeof modelTools>[1],
  tell: Tell,
): ModelTool[] {
  const all = modelTools(named, plan, undefined, skills ?? (named.map(toolKey).includes(SKILL_TOOL) ? undefined : []));
  const onFiles = all.filter(({ name }) => !("ask" in (plan.tools.get(name) ?? {}))).map(({ name }) => name);
  if (onFiles.length > 0) {
    const text = `${onFiles.join(", ")} would work in the sandbox, which ${actor} has to itself; the tools are not offered to it.`;
    tell({ type: "notice", level: "warning", text });
  }
  return all.filter(({ name }) => !onFiles.includes(name));
}

/** An actor that names skills is told of these. */
function descriptionOf(tool: Tool, skills: readonly string[] | undefined): string {
  if (skills === undefined || !isAdded(tool)) return tool.description;
  return tool.skills?.description(skills) ?? tool.description;
}

function parametersOf(tool: Tool, resources: readonly string[]): JsonObject {
  const schema = isAdded(tool) ? tool.schema.json : jsonSchemaOf(tool.parameters);
  // With only one there is nothing to choose.
  if ("ask" in tool || resources.length === 1) return schema;
  const key = isAdded(tool) ? resourceKey(tool) : "resource";
  const resource = { type: "string", enum: [...resources], description: "in which resource" };
  const properties = { ...(schema["properties"] as JsonObject | undefined), [key]: resource };
  const required = (schema["required"] as readonly string[] | undefined) ?? [];
  return { ...schema, properties, required: [...required, key] };
}
