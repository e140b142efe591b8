import { findProgram } from "../find-program.ts";
import type { Launch } from "./backend.ts";
import { findConfinement } from "./confinement.ts";

/**
 * Our own git where commands have written: should a file of theirs make it run a program after all, that runs without network and sees
 * nothing but the sandbox. Start it by `startLaunched`; where nothing confines, it is started as it is.
 */
export interface GitPlace {
  readonly cwd: string;
  /** The tree, and the repository of ours that belongs to it. */
  readonly writable: readonly string[];
  /** The objects that the repository borrows. */
  readonly readable: readonly string[];
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export async function confinedGit(args: readonly string[], place: GitPlace): Promise<Launch> {
  const { cwd, writable, readable, environment } = place;
  const program = findProgram("git") ?? "git";
  const found = await findConfinement();
  if (found.kind === "none") return { program, args, environment };
  const view = { readable, writable, protected: [], hidden: [], cwd, network: false };
  return found.backend.start({ command: [program, ...args], environment, recorded: false }, view);
}
