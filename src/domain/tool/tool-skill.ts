/**
 * A skill in YAML: a set of tools under one name. An actor that names it has its tools; it can include other sets, and
 * name skills that are folders.
 */
import { toolNames } from "../actor/actor-route.ts";
import { keyIssues } from "../actor/actor-keys.ts";
import { filled, filledLine, formIssues } from "../definition/checked-schema.ts";
import { isObject, list, parsedBy, reading, spelled } from "../definition/spelling.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { parseOwnName, type QualifiedName } from "../names/qualified-name.ts";
import type { ToolName, ToolRef } from "../names/tool-names.ts";
import { isSkillName } from "../skill/skill-text.ts";

export interface ToolSkill {
  readonly name: QualifiedName;
  readonly description: string;
  /** Its own, with those of its groups. */
  readonly tools: readonly ToolRef[];
  readonly includes: readonly QualifiedName[];
  /** Skills that are folders. */
  readonly skills: readonly string[];
}

const GROUPS = {
  file_operations: [
    "read_file",
    "write_file",
    "edit_file",
    "delete_file",
    "move_file",
    "copy_file",
    "list_directory",
    "search_files",
    "get_file_info",
  ],
  directory_operations: ["create_directory", "delete_directory"],
  git_operations: ["git_status", "git_diff", "git_log", "git_blame"],
  shell_operations: ["shell_execute"],
} as const satisfies Readonly<Record<string, readonly ToolName[]>>;
const GROUP_NAMES = ["file_operations", "directory_operations", "git_operations", "shell_operations"] as const;

const MOST = 100;
const group = reading<(typeof GROUP_NAMES)[number]>(
  (value, say) => {
    const given = isObject(value) ? value["group"] : value;
    const found = GROUP_NAMES.find((name) => name === given);
    return found ?? say(`must be one of ${GROUP_NAMES.join(", ")}`);
  },
  () => ({
    anyOf: [
      { enum: [...GROUP_NAMES] },
      { type: "object", properties: { group: { enum: [...GROUP_NAMES] } }, required: ["group"] },
    ],
  }),
);
const folderName = filled.refine(isSkillName, { message: "must be the name of a skill that is a folder" });

const SHAPE = {
  name: parsedBy((name) => parseOwnName(name)),
  description: filledLine.max(1_000, "is longer than 1000 characters"),
  tools: toolNames.default([]),
  builtins: list(group, MOST).default([]),
  includes: list(
    parsedBy((name) => parseOwnName(name)),
    MOST,
  ).default([]),
  agentSkills: list(folderName, MOST).default([]),
};

const FORM = {
  older: { agentSkills: ["agent_skill_folders", "agent_skills_dirs"] },
  refused: {
    inline_tools: "is not supported: add each tool by agents tool add, and name it in tools",
    mcp_servers: "is not supported: add each server by agents mcp server add, and name mcp__<server> in tools",
    overrides: "is not supported: the profile and the guards of a plan say what a tool may do",
    override: "is not supported: the profile and the guards of a plan say what a tool may do",
  },
};

export const toolSkill = spelled(SHAPE, FORM, (values, say): ToolSkill | undefined => {
  const { name, description, builtins, includes, agentSkills: skills } = values;
  const tools = [...new Set([...values.tools, ...builtins.flatMap((one): readonly ToolRef[] => GROUPS[one])])];
  if (tools.length + includes.length + skills.length === 0)
    return say("has nothing in it: name tools, builtins, includes or agent_skills");
  return { name, description, tools, includes, skills };
});

/** The definition in a file, flat or in a block `skill`; every problem is in the one error. */
export function parseToolSkill(input: unknown): ToolSkill {
  const wrapped = isObject(input) && isObject(input["skill"]) && !("name" in input);
  const value = wrapped ? input["skill"] : input;
  const issues: ValidationIssue[] = keyIssues(value);
  const parsed = toolSkill.safeParse(value);
  if (!parsed.success) issues.push(...formIssues(parsed.error, { own: [], list: "", items: [] }));
  if (parsed.success && issues.length === 0) return parsed.data;
  throw new ValidationError(`The skill is not valid: ${listIssues(issues)}.`, issues);
}

/** The tools and folders of sets together, each once: a set's own before those that it includes. */
export function resolvedSkills(
  names: readonly QualifiedName[],
  find: (name: QualifiedName) => ToolSkill | undefined,
  way: readonly QualifiedName[] = [],
): Pick<ToolSkill, "tools" | "skills"> {
  const parts = names.map((name) => {
    const found = find(name);
    if (found === undefined) throw skillError(`there is no skill ${name}`);
    if (way.includes(found.name)) throw skillError(`${[...way, found.name].join(" -> ")} includes itself`);
    const more = resolvedSkills(found.includes, find, [...way, found.name]);
    return { tools: [...found.tools, ...more.tools], skills: [...found.skills, ...more.skills] };
  });
  return {
    tools: [...new Set(parts.flatMap(({ tools }) => tools))],
    skills: [...new Set(parts.flatMap(({ skills }) => skills))],
  };
}

function skillError(problem: string): ValidationError {
  return new ValidationError(`The skill cannot be used: ${problem}.`, [{ path: "includes", message: problem }], {
    kept: "Nothing was changed.",
  });
}
