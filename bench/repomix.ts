/** The peer that packs all of a repository. */
import { join } from "node:path";
import { version } from "./peer.ts";

export interface Repomix {
  readonly version: string;
  /** The words after `node` that pack `root` compressed into `file`. */
  readonly words: (root: string, file: string, options: readonly string[]) => readonly string[];
}

/** Throws when it is not installed. */
export async function findRepomix(peersDir: string): Promise<Repomix> {
  const program = join(peersDir, "node_modules", "repomix", "bin", "repomix.cjs");
  return {
    version: await version(peersDir, "repomix"),
    words: (root, file, options) => [program, "--compress", "--quiet", ...options, "-o", file, root],
  };
}
