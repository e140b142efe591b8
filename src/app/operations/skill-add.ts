import * as z from "zod";
import { UsageError, ValidationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { looked } from "../../execution/skills/skill-places.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { addToolSkill } from "../procedures/add-definition.ts";
import { skillFacts, SkillFacts, toolSkillFacts, type SkillFactsOutput } from "../queries/skill-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({
    folder: z.string().optional(),
    definition: Document.optional(),
    replace: z.boolean().default(false),
  }),
  output: z.strictObject({ skill: SkillFacts }),
  run: async (app, { folder, definition, replace }) => {
    if ((folder === undefined) === (definition === undefined)) {
      throw new UsageError("Give the folder of a skill, or a file with --config.", {
        kept: "Nothing was added.",
        next: [nextStep("skill.add", { folder: "<folder>" }), { text: "agents skill add --config skill.yaml" }],
      });
    }
    if (definition === undefined) return { skill: await addFolder(app, folder ?? "", replace) };
    return { skill: toolSkillFacts(await addToolSkill(app, definition, { replace })) };
  },
});

async function addFolder(app: App, folder: string, replace: boolean): Promise<SkillFactsOutput> {
  const found = looked(folder, "added", undefined);
  if (!("skill" in found)) {
    throw new ValidationError(found.problem, found.issues, {
      kept: "Nothing was added.",
      next: [nextStep("skill.check", { folder })],
    });
  }
  await (await app.skills()).addSkill(found.name, folder, { replace });
  return skillFacts(found);
}
