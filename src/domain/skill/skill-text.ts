/**
 * The text of a skill: a file SKILL.md by the Agent Skills standard, with front matter in YAML and instructions in
 * Markdown. `allowed-tools` is read and shown, and grants nothing: the plan's profile says what is allowed.
 */
import * as z from "zod";
import { readYaml } from "../definition/yaml-file.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { isObject } from "../definition/spelling.ts";
import { shown } from "../text/text.ts";

export interface SkillText {
  readonly name: string;
  /** One line. */
  readonly description: string;
  readonly license: string | undefined;
  readonly compatibility: string | undefined;
  readonly allowedTools: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** The instructions, without the front matter. */
  readonly body: string;
  /** Keys that the standard does not have; they have no effect. */
  readonly otherKeys: readonly string[];
}

const NAME_LIMIT = 64;
const DESCRIPTION_LIMIT = 1024;
const COMPATIBILITY_LIMIT = 500;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

const filledText = z.string("must be a text").refine((text) => text.trim() !== "", { message: "must not be empty" });
const FRONT = z.looseObject({
  name: filledText
    .max(NAME_LIMIT, `is longer than ${NAME_LIMIT} characters`)
    .regex(NAME, "must be lower-case letters and digits, with single hyphens between them"),
  description: filledText.max(DESCRIPTION_LIMIT, `is longer than ${DESCRIPTION_LIMIT} characters`),
  license: filledText.optional(),
  compatibility: filledText.max(COMPATIBILITY_LIMIT, `is longer than ${COMPATIBILITY_LIMIT} characters`).optional(),
  "allowed-tools": z.union([z.string(), z.array(z.string())], "must be names of tools").optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]), "must be key: value lines").optional(),
});

/** Whether a text can be the name of a skill that is a folder. */
export function isSkillName(text: string): boolean {
  return text.length <= NAME_LIMIT && NAME.test(text);
}

/** Whether a text can be the name of a skill in YAML, such as `local/file-tools`. */
export function isSkillSetName(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_-]*\/[A-Za-z][A-Za-z0-9_-]*$/.test(text) && text.length <= 2 * NAME_LIMIT;
}

/** `folder` is the name of the directory in which the file lies: the skill must be called the same. */
export function parseSkillText(text: string, file: string, folder: string): SkillText {
  const [, head, body = ""] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n([\s\S]*))?$/m.exec(text) ?? [];
  if (head === undefined || !/^\uFEFF?---/.test(text)) {
    const message = 'must begin with front matter between two lines "---"';
    throw new ValidationError(`${file} is not a valid skill (1 problem).`, [{ path: "", message, file, line: 1 }]);
  }
  // The empty line stands for the first "---", so that the lines are those of the file.
  return readYaml(`\n${head}`, file, "a skill", (value) => skillOf(value, body.trim(), folder));
}

function skillOf(value: unknown, body: string, folder: string): SkillText {
  const parsed = FRONT.safeParse(value);
  const issues: ValidationIssue[] = (parsed.error?.issues ?? []).map(({ path, message }) => {
    const [key = ""] = path;
    const missing = isObject(value) && value[String(key)] === undefined;
    return { path: String(key), message: missing ? "is required" : message };
  });
  if (parsed.data !== undefined && parsed.data.name !== folder)
    issues.push({ path: "name", message: `must be ${shown(folder)}, the name of its folder` });
  if (parsed.data === undefined || issues.length > 0)
    throw new ValidationError(`The skill is not valid: ${listIssues(issues)}.`, issues);
  const { name, description, license, compatibility, metadata = {}, "allowed-tools": allowed = [] } = parsed.data;
  const names = typeof allowed === "string" ? allowed.split(/[\s,]+/) : allowed;
  return {
    name,
    description: description.trim().replaceAll(/\s+/g, " "),
    license,
    compatibility,
    allowedTools: names.filter((one) => one !== ""),
    metadata: Object.fromEntries(Object.entries(metadata).map(([key, one]) => [key, String(one)])),
    body,
    otherKeys: Object.keys(parsed.data).filter((key) => !(key in FRONT.shape)),
  };
}
