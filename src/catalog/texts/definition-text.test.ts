/** Every example of the pages, stored, written out and read again, is the same definition. */
import { expect, test } from "vitest";
import { parseAction } from "../../domain/action/action.ts";
import { readYaml } from "../../domain/definition/yaml-file.ts";
import { parseToolSkill } from "../../domain/tool/tool-skill.ts";
import { parseActionFile } from "../action-file.ts";
import { parseActorFile } from "../actor-file.ts";
import { parseProfileFile } from "../profile-file.ts";
import { pageExamples } from "../testing/page-examples.ts";
import { readToolFile } from "../tool-file.ts";
import { checkValidation, parseValidationFile } from "../validation-file.ts";
import { actionText, actorText, profileText, skillText, toolText, validationText } from "./definition-text.ts";

const MORE = [
  {
    place: "an agent with everything",
    kind: "actor",
    text: "name: a\ntype: acp\ndescription: d\nagent: claude\nmodel: anthropic/claude-sonnet-4-5\nsub_agents: true\nunsafe: true\n",
  },
  {
    place: "an agent of the second version",
    kind: "actor",
    text: "name: a\ntype: acp\ndescription: d\nagent: claude\nprotocol: 2\n",
  },
  {
    place: "a text with a variable",
    kind: "actor",
    text: "name: a\ntype: llm\ndescription: d\nsystem_prompt: 'Say $${NAME} and $x'\n",
  },
  {
    place: "a command of a validation",
    kind: "validation",
    text: "name: v\ndescription: d\ncommand: npm test\ncwd: web\n",
  },
  {
    place: "a tool of a validation",
    kind: "validation",
    text: "name: v\ndescription: d\ntool: read_file\nparams: { path: a }\n",
  },
  {
    place: "several actors for the steps",
    kind: "action",
    text: "name: v\ndescription: d\ndefinition_of_done: x\nexecution_actors: [local/a, local/b]\n",
  },
  {
    place: "a budget",
    kind: "automation-profile",
    text: "name: v\ndescription: d\nextends: trusted\nbudget: { max_cost_usd: 2 }\n",
  },
  { place: "a shell text", kind: "tool", text: "name: v\ndescription: d\ncommand: ls | wc\n" },
  {
    place: "this very file as a module",
    kind: "tool",
    text: `name: v\ndescription: d\nmodule: ${import.meta.filename}\n`,
  },
];

const WAYS: Readonly<Record<string, (text: string) => readonly [unknown, () => unknown]>> = {
  actor: (text) => {
    const [first] = parseActorFile(text, "x", {});
    if (first === undefined) throw new Error("no actor");
    return [first, () => parseActorFile(actorText(first), "x", {})[0]];
  },
  action: (text) => {
    const action = parseAction(parseActionFile(text, "x"));
    return [action, () => parseAction(parseActionFile(actionText(action), "x"))];
  },
  "automation-profile": (text) => {
    const { profile } = parseProfileFile(text, "x", []);
    return [profile, () => parseProfileFile(profileText(profile), "x", []).profile];
  },
  validation: (text) => {
    const validation = checkValidation(parseValidationFile(text, "x"));
    return [validation, () => checkValidation(parseValidationFile(validationText(validation), "x"))];
  },
  tool: (text) => {
    const { tool } = readToolFile(text, "x", undefined);
    return [tool, () => readToolFile(toolText(tool), "x", undefined).tool];
  },
  skill: (text) => {
    const skill = readYaml(text, "x", "a skill", parseToolSkill);
    return [skill, () => readYaml(skillText(skill), "x", "a skill", parseToolSkill)];
  },
};

const EXAMPLES = [...pageExamples(), ...MORE].filter(({ kind }) => kind in WAYS);

test.each(EXAMPLES)("$kind of $place", ({ kind, text }) => {
  const [before, again] = WAYS[kind]?.(text) ?? [];
  expect(again?.()).toEqual(before);
});
