import * as z from "zod";
import { readYaml } from "../../domain/definition/yaml-file.ts";
import { UsageError, ValidationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { parseToolSkill } from "../../domain/tool/tool-skill.ts";
import { looked } from "../../execution/skills/skill-places.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { skillFacts, SkillFacts, toolSkillFacts, type SkillFactsOutput } from "../queries/skill-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ folder: z.string().optional(), definition: Document.optional() }),
  output: z.strictObject({ skill: SkillFacts }),
  run: async (app, { folder, definition }) => {
    if ((folder === undefined) === (definition === undefined)) {
      throw new UsageError("Give the folder of a skill, or a file with --config.", {
        kept: "Nothing was added.",
        next: [nextStep("skill.add", { folder: "<folder>" }), { text: "agents skill add --config skill.yaml" }],
      });
    }
    if (definition === undefined) return { skill: await addFolder(app, folder ?? "") };
    const skill = readYaml(definition.text, definition.file, "a skill", parseToolSkill);
    await (await app.skills()).addToolSkill(skill);
    return { skill: toolSkillFacts(skill) };
  },
});

async function addFolder(app: App, folder: string): Promise<SkillFactsOutput> {
  const found = looked(folder, "added", undefined);
  if (!("skill" in found)) {
    throw new ValidationError(found.problem, found.issues, {
      kept: "Nothing was added.",
      next: [nextStep("skill.check", { folder })],
    });
  }
  await (await app.skills()).addSkill(found.name, folder);
  return skillFacts(found);
}
