import * as z from "zod";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readYaml } from "../../domain/definition/yaml-file.ts";
import { ValidationError } from "../../domain/errors/errors.ts";
import { parseToolSkill } from "../../domain/tool/tool-skill.ts";
import { unreadableFiles } from "../../execution/skills/skill-folder.ts";
import { looked } from "../../execution/skills/skill-places.ts";
import { defineOperation } from "../base/operation.ts";

const Problem = z.strictObject({
  file: z.string(),
  line: z.int().nullable(),
  column: z.int().nullable(),
  message: z.string(),
});

export const operation = defineOperation({
  input: z.strictObject({ folder: z.string() }),
  output: z.strictObject({
    folder: z.string(),
    valid: z.boolean(),
    problems: z.array(Problem),
    /** Parts that have no effect, or that a model cannot read; the skill is used without them. */
    warnings: z.array(Problem),
  }),
  run: (_, { folder: given }) => {
    if (/\.ya?ml$/.test(given)) return Promise.resolve(checkedFile(given));
    const folder = basename(given) === "SKILL.md" ? dirname(given) : given;
    const file = join(folder, "SKILL.md");
    const found = looked(folder, "added", undefined);
    if (!("skill" in found)) {
      const whole = { file, line: null, column: null, message: found.problem };
      const issues = found.issues.map(({ line, column, path, message }) => ({
        file,
        line: line ?? null,
        column: column ?? null,
        message: path === "" ? message : `${path} ${message}`,
      }));
      return Promise.resolve({ folder, valid: false, problems: issues.length === 0 ? [whole] : issues, warnings: [] });
    }
    const nowhere = { line: null, column: null };
    const warnings = [
      ...found.skill.otherKeys.map((key) => ({ file, ...nowhere, message: `${key} is not a key of the standard` })),
      ...unreadableFiles(found.directory).map((one) => ({ ...nowhere, ...one, file: join(folder, one.file) })),
    ];
    return Promise.resolve({ folder, valid: true, problems: [], warnings });
  },
});

/** A set of tools in YAML. */
function checkedFile(file: string) {
  const about = { folder: dirname(file), warnings: [] };
  try {
    readYaml(readFileSync(file, "utf8"), file, "a skill", parseToolSkill);
    return { ...about, valid: true, problems: [] };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const problems = error.issues.map(({ line, column, path, message }) => ({
      file,
      line: line ?? null,
      column: column ?? null,
      message: path === "" ? message : `${path} ${message}`,
    }));
    return { ...about, valid: false, problems };
  }
}
