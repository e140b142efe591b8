/**
 * The tools that a repository brings along, in `.agents/tools`. None is used before the user has accepted its
 * content.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AgentsError } from "../domain/errors/errors.ts";
import { readToolFile, type ToolFile } from "./tool-file.ts";

const PLACE = ".agents/tools";
/** More are not looked at. */
const MOST_FILES = 200;

export type RepositoryTool = (ToolFile | { readonly problem: string }) & {
  /** In the repository. */
  readonly file: string;
};

/** In the order of their names. */
export function repositoryTools(root: string): RepositoryTool[] {
  return toolFiles(root).map((name) => {
    const file = `${PLACE}/${name}`;
    try {
      const directory = join(root, PLACE);
      return { file, ...readToolFile(readFileSync(join(directory, name), "utf8"), file, directory) };
    } catch (error) {
      // One file that is not valid, or cannot be read, must not keep the others from their use.
      if (error instanceof AgentsError || (error instanceof Error && "code" in error))
        return { file, problem: error.message };
      throw error;
    }
  });
}

function toolFiles(root: string): string[] {
  try {
    const names = readdirSync(join(root, PLACE)).filter((name) => /\.ya?ml$/.test(name));
    return names.toSorted().slice(0, MOST_FILES);
  } catch {
    // Not there, or not a directory: then the repository has no tools.
    return [];
  }
}
