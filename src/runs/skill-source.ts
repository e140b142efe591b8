/** The skills of a plan: of its repositories, of the user, and those that were added. */
import { SKILL_TOOL } from "../domain/names/tool-names.ts";
import type { AddedToolFacts } from "../domain/tool/added-tool.ts";
import { findSkills, type SkillPlaces } from "../execution/skills/skill-places.ts";
import { skillTool, skillToolFacts } from "../execution/tools/skill-tool.ts";
import type { ToolSource } from "../execution/tools/tool-source.ts";

export class SkillSource implements ToolSource {
  readonly source = "skill";
  readonly #places: () => Promise<SkillPlaces>;
  readonly #show: (directories: readonly string[]) => void;

  /** `show` lets the commands of the plan read these directories. */
  constructor(parts: { places: () => Promise<SkillPlaces>; show: (directories: readonly string[]) => void }) {
    this.#places = parts.places;
    this.#show = parts.show;
  }

  async offered({ names }: Parameters<ToolSource["offered"]>[0]): Promise<AddedToolFacts[]> {
    if (names !== undefined && !names.includes(SKILL_TOOL)) return [];
    const skills = findSkills(await this.#places()).flatMap((one) => {
      if (!("skill" in one) || one.hiddenBy !== undefined) return [];
      const { name, description } = one.skill;
      return [{ name, description, directory: one.directory }];
    });
    return skills.length === 0 ? [] : [skillToolFacts(skills)];
  }

  bound(facts: AddedToolFacts): ReturnType<ToolSource["bound"]> {
    const { tool, directories } = skillTool(facts);
    this.#show(directories);
    return tool;
  }
}
