/** The facts of a skill, and where it comes from. */
import { homedir } from "node:os";
import * as z from "zod";
import type { ToolSkill } from "../../domain/tool/tool-skill.ts";
import { findSkills, type FoundSkill, type SkillPlaces } from "../../execution/skills/skill-places.ts";
import { findWorkTree } from "../../git/work-tree.ts";
import { maskedText } from "../../platform/masking.ts";
import type { App } from "../base/app.ts";

export const SkillFacts = z.strictObject({
  name: z.string(),
  description: z.string(),
  /**
   * `project`: a folder of the repository here. `user`: in the user's home. `added`: a folder added by `skill add`.
   * `config`: a set of tools in YAML, which has no folder.
   */
  from: z.enum(["project", "user", "added", "config"]),
  /** `hidden`: another skill of the same name is used. */
  state: z.enum(["ready", "hidden", "not valid"]),
  folder: z.string().nullable(),
  /** The folder of the skill that is used instead. */
  hiddenBy: z.string().nullable(),
  problem: z.string().nullable(),
});
export type SkillFactsOutput = z.output<typeof SkillFacts>;

/** The places in which skills are looked for. */
export async function skillPlaces(app: App, repositories: readonly string[]): Promise<SkillPlaces> {
  const added = await (await app.skills()).listSkills();
  const home = app.environment["HOME"] || homedir();
  return {
    repositories,
    home,
    added: added.flatMap(({ definition }) => ("path" in definition ? [definition.path] : [])),
  };
}

/** Every skill that a plan in the repository at a directory could meet. */
export async function skillsAt(app: App, directory: string): Promise<FoundSkill[]> {
  const root = findWorkTree(directory);
  return findSkills(await skillPlaces(app, root === undefined ? [] : [root]));
}

/** The sets of tools that the user added. */
export async function toolSkills(app: App): Promise<ToolSkill[]> {
  const added = await (await app.skills()).listSkills();
  return added.flatMap(({ definition }) => ("path" in definition ? [] : [definition]));
}

export function toolSkillFacts({ name, description }: ToolSkill): SkillFactsOutput {
  return { name, description, from: "config", state: "ready", folder: null, hiddenBy: null, problem: null };
}

export function skillFacts(found: FoundSkill): SkillFactsOutput {
  const { name, from, folder } = found;
  const about = { name, from, folder };
  if (!("skill" in found)) {
    const problem = found.issues.length === 0 ? found.problem : found.issues.map(issueText).join("; ");
    return { ...about, description: "", state: "not valid", hiddenBy: null, problem };
  }
  const description = maskedText(found.skill.description);
  const { hiddenBy = null } = found;
  return { ...about, description, state: hiddenBy === null ? "ready" : "hidden", hiddenBy, problem: null };
}

function issueText({ line, path, message }: { line?: number; path: string; message: string }): string {
  return `${line === undefined ? "" : `line ${line}: `}${path === "" ? "" : `${path} `}${message}`;
}
