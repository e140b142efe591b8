import * as z from "zod";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({ skill: z.string() }),
  output: z.strictObject({ skill: z.string(), folder: z.string().nullable() }),
  run: async (app, { skill }) => {
    const skills = await app.skills();
    const found = await skills.getSkill(skill);
    await skills.removeSkill(skill);
    return { skill, folder: "path" in found ? found.path : null };
  },
});
