/**
 * The tool `use_skill`. Its description lists the skills of a plan by name and description, so that a model knows them
 * from the start; the text of one is read when the model asks for it. The list is recorded with the plan.
 */
import { SKILL_TOOL } from "../../domain/names/tool-names.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { shown } from "../../domain/text/text.ts";
import type { AddedOutput, AddedToolFacts } from "../../domain/tool/added-tool.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import { maskedText } from "../../platform/masking.ts";
import { readSkillFile, readSkillFolder } from "../skills/skill-folder.ts";
import { ParameterSchema } from "./parameter-schema.ts";
import type { AddedTool } from "./tool.ts";

/** A skill as a plan records it. */
export interface PlanSkill {
  readonly name: string;
  readonly description: string;
  /** The real path of its folder. */
  readonly directory: string;
}

/** About 2,000 tokens: the list is part of every question to the model. */
const LIST_LIMIT = 8_000;
/** Characters of the names of skills whose descriptions are left out. */
const NAMES_LIMIT = 2_000;
const ABOUT =
  "Read a skill: instructions for one kind of task. Before you do something that a skill is for, read it and follow it. " +
  "Give file to read another file of its folder. The skills:";

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    name: { type: "string", description: "the skill" },
    file: { type: "string", description: "a file of its folder, instead of its instructions" },
  },
  required: ["name"],
  additionalProperties: false,
};

export function skillToolFacts(skills: readonly PlanSkill[]): AddedToolFacts {
  return {
    name: SKILL_TOOL,
    description: listed(skills),
    source: "skill",
    writes: false,
    compared: false,
    parameters: PARAMETERS,
    definition: { skills: skills.map((one) => ({ ...one })) },
  };
}

/** The tool behind recorded facts. */
export function skillTool({ parameters, definition, ...facts }: AddedToolFacts): {
  readonly tool: AddedTool;
  readonly directories: readonly string[];
} {
  const { skills } = definition as unknown as { readonly skills: readonly PlanSkill[] };
  const tool: AddedTool = {
    ...facts,
    schema: new ParameterSchema(parameters),
    skills: {
      names: skills.map(({ name }) => name),
      description: (names) => listed(skills.filter(({ name }) => names.includes(name))),
    },
    // Both are texts: the schema says so.
    ask: ({ name, file }) => Promise.resolve(read(skills, textOf(name) ?? "", textOf(file))),
  };
  return { tool, directories: skills.map(({ directory }) => directory) };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function read(skills: readonly PlanSkill[], name: string, file: string | undefined): AddedOutput {
  const skill = skills.find((one) => one.name === name);
  if (skill === undefined) {
    const names = skills.map((one) => one.name);
    const suggestion = nearest(name, names);
    const hint = suggestion === undefined ? `There are: ${names.join(", ")}.` : `Did you mean ${shown(suggestion)}?`;
    throw new AgentsError("tool_failed", `There is no skill ${shown(name)}. ${hint}`);
  }
  try {
    if (file !== undefined) return { text: maskedText(readSkillFile(skill.directory, file)) };
    const { body, files } = readSkillFolder(skill.directory, skill.name);
    const others = files.length === 0 ? "" : `\n\nOther files of this skill, for use_skill: ${files.join(", ")}`;
    const place =
      files.length === 0
        ? ""
        : `\nIts folder is ${skill.directory}: commands can read it and run its scripts, and cannot change it.`;
    return { text: maskedText(`${body === "" ? "(no instructions)" : body}${others}${place}`) };
  } catch (error) {
    if (error instanceof AgentsError) throw new AgentsError("tool_failed", `${skill.name}: ${error.message}`);
    throw error;
  }
}

/** As many descriptions as fit, in the order of the names; of the others the names. */
function listed(skills: readonly PlanSkill[]): string {
  const lines: string[] = [];
  let left = LIST_LIMIT;
  for (const { name, description } of skills) {
    const line = `- ${name}: ${maskedText(description)}`;
    if (line.length > left) break;
    left -= line.length + 1;
    lines.push(line);
  }
  const others = skills.slice(lines.length).map(({ name }) => name);
  if (others.length === 0) return [ABOUT, ...lines].join("\n");
  const names = others.join(", ");
  const told = names.length > NAMES_LIMIT ? `${names.slice(0, NAMES_LIMIT)}…` : names;
  return [ABOUT, ...lines, `(the list is cut here; ${others.length} more without their descriptions: ${told})`].join(
    "\n",
  );
}
