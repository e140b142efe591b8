/** Where skills are found: in the repositories of a plan, in the user's home, and in folders that the user added. */
import { readdirSync, realpathSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { AgentsError, ValidationError, type ValidationIssue } from "../../domain/errors/errors.ts";
import { readSkillFolder, type SkillFolder } from "./skill-folder.ts";

const PLACES = [".agents/skills", ".claude/skills"] as const;
/** More folders of one place are not looked at. */
const MOST_FOLDERS = 200;

export interface SkillPlaces {
  /** Roots of repositories. */
  readonly repositories: readonly string[];
  readonly home: string;
  /** Folders that the user added. */
  readonly added: readonly string[];
}

export type FoundSkill = {
  readonly from: "project" | "user" | "added";
  /** As the user knows it. */
  readonly folder: string;
  readonly name: string;
} & (
  | {
      readonly skill: SkillFolder;
      /** The real path of the folder. */
      readonly directory: string;
      /** The folder of the skill of the same name that comes first, and is used instead. */
      readonly hiddenBy: string | undefined;
    }
  | { readonly problem: string; readonly issues: readonly ValidationIssue[] }
);

/** Of one name the project's skill counts, then the user's, then an added one; those that count first, by name. */
export function findSkills({ repositories, home, added }: SkillPlaces): FoundSkill[] {
  const found = [
    ...repositories.flatMap((root) => foldersIn(root).map((folder) => looked(folder, "project", root))),
    ...foldersIn(home).map((folder) => looked(folder, "user", undefined)),
    ...added.map((folder) => looked(folder, "added", undefined)),
  ];
  const first = new Map<string, string>();
  const judged = found.map((one): FoundSkill => {
    if (!("skill" in one)) return one;
    const hiddenBy = first.get(one.name);
    if (hiddenBy === undefined) first.set(one.name, one.folder);
    return { ...one, hiddenBy };
  });
  return judged.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** One folder, whether or not it is valid. */
export function looked(folder: string, from: FoundSkill["from"], within: string | undefined): FoundSkill {
  const about = { from, folder, name: basename(folder) };
  try {
    const directory = realpathSync.native(folder);
    // A repository's own link must not make other files of the user a skill.
    if (within !== undefined && !directory.startsWith(`${realpathSync.native(within)}${sep}`))
      return { ...about, problem: "its folder is a link that leads out of the repository", issues: [] };
    return { ...about, skill: readSkillFolder(directory, folder), directory, hiddenBy: undefined };
  } catch (error) {
    // One that is not valid, or cannot be read, must not keep the others from their use.
    if (error instanceof ValidationError) return { ...about, problem: error.message, issues: error.issues };
    if (error instanceof AgentsError || (error instanceof Error && "code" in error))
      return { ...about, problem: error.message, issues: [] };
    throw error;
  }
}

function foldersIn(root: string): string[] {
  return PLACES.flatMap((place) => {
    try {
      const entries = readdirSync(join(root, place), { withFileTypes: true });
      const names = entries.filter((one) => one.isDirectory() || one.isSymbolicLink()).map(({ name }) => name);
      const visible = names.filter((name) => !name.startsWith(".")).toSorted();
      return visible.slice(0, MOST_FOLDERS).map((name) => join(root, place, name));
    } catch {
      // Not there, or not a directory: then there are no skills.
      return [];
    }
  });
}
