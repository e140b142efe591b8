import { ConflictError, NotFoundError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { nameKey, parseOwnName, type QualifiedName } from "../domain/names/qualified-name.ts";
import { resolvedSkills, type ToolSkill } from "../domain/tool/tool-skill.ts";
import { nearest } from "../domain/text/suggest.ts";
import { requireSeen, type ReplaceRules } from "../plans/replace-rules.ts";
import { recordEvent, recordSourceOf, type RecordSource, type ServiceParts } from "../plans/transition.ts";
import { deleteExtension, findExtensions, insertExtension, type Extension } from "../store/tables/extensions.ts";
import type { Reader, Store } from "../store/port.ts";

/** A skill that a user has added: a folder that stays where it is, or a set of tools. */
export type AddedSkill = AddedFolder | ToolSkill;

interface AddedFolder {
  readonly name: QualifiedName;
  /** The folder, absolute. */
  readonly path: string;
}

/**
 * Folders of skills that users have added. The service holds no state; each change is one transaction with its event
 * and its audit entry.
 */
export class SkillService {
  readonly #store: Store;
  readonly #recordSource: RecordSource;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#recordSource = recordSourceOf(parts);
  }

  listSkills(): Promise<Extension<AddedSkill>[]> {
    return this.#store.read((reader) => findExtensions<AddedSkill>(reader, "skill"));
  }

  addSkill(name: string, path: string, rules: ReplaceRules = {}): Promise<void> {
    return this.#add({ name: parseOwnName(name), path }, name, rules);
  }

  /** Everything that it includes must be there. */
  async addToolSkill(skill: ToolSkill, rules: ReplaceRules = {}): Promise<void> {
    const known = await this.#store.read(storedToolSkills);
    resolvedSkills([skill.name], (name) => (nameKey(name) === nameKey(skill.name) ? skill : known(name)));
    await this.#add(skill, skill.name, rules);
  }

  async #add(skill: AddedSkill, name: string, rules: ReplaceRules): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const at = this.#recordSource.clock();
      const where = "path" in skill ? { path: skill.path } : {};
      const stored = await findExtensions<AddedSkill>(tx, "skill");
      const before = stored.find(({ definition }) => nameKey(definition.name) === nameKey(skill.name));
      requireSeen(`skill "${name}"`, before?.definition, rules.seen);
      if (rules.replace === true) await deleteExtension(tx, "skill", skill.name);
      if (!(await insertExtension(tx, "skill", skill, at))) {
        throw new ConflictError(
          `There is already an added skill "${name}".`,
          { expected: "no such skill", actual: name, code: "already_exists" },
          {
            kept: "The existing skill was not changed.",
            next: [nextStep("skill.show", { skill: name }), nextStep("skill.remove", { skill: name })],
          },
        );
      }
      await recordEvent(tx, this.#recordSource, { type: "skill.added", at, details: { skill: name, ...where } });
    });
  }

  getSkill(name: string): Promise<AddedSkill> {
    return this.#store.read((reader) => requireSkill(reader, name));
  }

  async removeSkill(name: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const skill = await requireSkill(tx, name);
      await deleteExtension(tx, "skill", skill.name);
      const at = this.#recordSource.clock();
      await recordEvent(tx, this.#recordSource, { type: "skill.removed", at, details: { skill: name } });
    });
  }
}

/** The sets of tools that were added, by their names. */
export async function storedToolSkills(reader: Reader): Promise<(name: QualifiedName) => ToolSkill | undefined> {
  const all = (await findExtensions<AddedSkill>(reader, "skill")).map(({ definition }) => definition);
  const sets = new Map(all.flatMap((one) => ("path" in one ? [] : [[nameKey(one.name), one] as const])));
  return (name) => sets.get(nameKey(name));
}

async function requireSkill(reader: Reader, name: string): Promise<AddedSkill> {
  const all = (await findExtensions<AddedSkill>(reader, "skill")).map(({ definition }) => definition);
  const key = (name.includes("/") ? name : `local/${name}`).toLowerCase();
  const found = all.find((one) => nameKey(one.name) === key);
  if (found !== undefined) return found;
  const names = all.map((one) => ("path" in one ? one.name.slice("local/".length) : one.name));
  const suggestion = nearest(name, names);
  throw new NotFoundError("skill", name, {
    ...(suggestion === undefined ? {} : { detail: { suggestion } }),
    next: [suggestion === undefined ? nextStep("skill.list") : nextStep("skill.show", { skill: suggestion })],
  });
}
