import * as z from "zod";
import { NotFoundError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { nameKey } from "../../domain/names/qualified-name.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { maskedText } from "../../platform/masking.ts";
import { defineOperation } from "../base/operation.ts";
import { skillFacts, SkillFacts, skillsAt, toolSkillFacts, toolSkills } from "../queries/skill-facts.ts";

const ShownSkill = SkillFacts.extend({
  license: z.string().nullable(),
  compatibility: z.string().nullable(),
  /** As its author wrote them; they grant nothing. */
  allowedTools: z.array(z.string()).readonly(),
  metadata: z.record(z.string(), z.string()),
  files: z.array(z.string()).readonly(),
  instructions: z.string(),
  /** Of a set of tools: its own tools, and the skills that it includes. */
  tools: z.array(z.string()).readonly(),
  includes: z.array(z.string()).readonly(),
});

export const operation = defineOperation({
  input: z.strictObject({ directory: z.string(), skill: z.string() }),
  output: z.strictObject({ skill: ShownSkill }),
  run: async (app, { directory, skill: name }) => {
    const sets = await toolSkills(app);
    const set = sets.find((one) => nameKey(one.name) === name.toLowerCase());
    const none = { license: null, compatibility: null, allowedTools: [], metadata: {}, files: [], instructions: "" };
    if (set !== undefined) {
      const { tools, includes, skills } = set;
      return { skill: { ...toolSkillFacts(set), ...none, tools, includes: [...includes, ...skills] } };
    }
    const all = await skillsAt(app, directory);
    const same = all.filter((one) => one.name === name);
    const found = same.find((one) => "skill" in one && one.hiddenBy === undefined) ?? same[0];
    if (found === undefined) {
      const suggestion = nearest(
        name,
        [...all, ...sets].map((one) => one.name),
      );
      throw new NotFoundError("skill", name, {
        ...(suggestion === undefined ? {} : { detail: { suggestion } }),
        next: [suggestion === undefined ? nextStep("skill.list") : nextStep("skill.show", { skill: suggestion })],
      });
    }
    const facts = skillFacts(found);
    const noTools = { tools: [], includes: [] };
    if (!("skill" in found)) return { skill: { ...facts, ...none, ...noTools } };
    const { license = null, compatibility = null, allowedTools, metadata, files, body } = found.skill;
    const instructions = maskedText(body);
    return { skill: { ...facts, license, compatibility, allowedTools, metadata, files, instructions, ...noTools } };
  },
});
