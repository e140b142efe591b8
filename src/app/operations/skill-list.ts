import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { skillFacts, SkillFacts, skillsAt, toolSkillFacts, toolSkills } from "../queries/skill-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ directory: z.string() }),
  output: z.strictObject({
    skills: z.array(SkillFacts),
    summary: z.strictObject({ total: z.int(), ready: z.int() }),
  }),
  run: async (app, { directory }) => {
    const folders = (await skillsAt(app, directory)).map(skillFacts);
    const skills = [...folders, ...(await toolSkills(app)).map(toolSkillFacts)];
    const ready = skills.filter(({ state }) => state === "ready").length;
    return { skills, summary: { total: skills.length, ready } };
  },
});
