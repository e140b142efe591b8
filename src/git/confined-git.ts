/**
 * Our own git where commands have written. It reads none of their settings; should one of their files make it run a
 * program after all, that program has no network and sees nothing but the sandbox. This is a second line of defense, so
 * a git that cannot work confined (one that is installed in a hidden place) works unconfined, and so does git where no
 * confinement works.
 */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Launch } from "../confinement/backend.ts";
import { findConfinement } from "../confinement/confinement.ts";
import { startLaunched } from "../confinement/start.ts";
import type { Environment } from "../domain/values/environment.ts";

export interface ConfinedPlace {
  readonly cwd: string;
  /** The tree, and the repository of ours that belongs to it. */
  readonly writable: readonly string[];
  /** The objects that the repository borrows. */
  readonly objects: string | undefined;
  /** All of its environment. */
  readonly environment: Environment;
}

export async function confinedGit(program: string, args: readonly string[], place: ConfinedPlace): Promise<Launch> {
  const { cwd, writable, objects, environment } = place;
  const confined = await launcher(program, environment["PATH"]);
  if (confined === undefined) return { program, args, environment };
  const readable = [...(objects === undefined ? [] : borrowedFrom(objects)), ...rulesOfTheUser(environment)];
  return confined(args, { readable, writable, cwd, environment });
}

interface Shown {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly cwd: string;
  readonly environment: ConfinedPlace["environment"];
}
type Launcher = (args: readonly string[], shown: Shown) => Launch;

/** By program and PATH; tests change PATH. */
const launchers = new Map<string, Promise<Launcher | undefined>>();

/** Undefined where git does not work confined. Tried once. */
function launcher(program: string, path: string | undefined): Promise<Launcher | undefined> {
  const key = [program, path].join("\n");
  const known = launchers.get(key) ?? workingLauncher(program, path);
  launchers.set(key, known);
  return known;
}

async function workingLauncher(program: string, path: string | undefined): Promise<Launcher | undefined> {
  const found = await findConfinement();
  if (found.kind === "none") return undefined;
  const start: Launcher = (args, { environment, ...shown }) =>
    found.backend.start(
      { command: [program, ...args], environment, recorded: false },
      { ...shown, hidden: [], network: "none" },
    );
  const attempt = start(["--version"], { readable: [], writable: [], cwd: "/", environment: { PATH: path } });
  const child = startLaunched(attempt, { cwd: "/", record: undefined });
  child.stdout?.resume();
  child.stderr?.resume();
  const [code] = await once(child, "close");
  return code === 0 ? start : undefined;
}

/** The objects, and those of the repositories from which they are borrowed in turn. */
export function borrowedFrom(objects: string): string[] {
  const found = new Set([objects]);
  for (const directory of found) {
    for (const line of linesOf(join(directory, "info", "alternates"))) {
      if (line !== "" && !line.startsWith("#")) found.add(resolve(directory, line));
    }
  }
  return [...found];
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
}

/** The user's settings for every repository, because they say which files git ignores. */
function rulesOfTheUser(environment: ConfinedPlace["environment"]): string[] {
  const { XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL, HOME = homedir() } = environment;
  const own = [join(HOME, ".gitconfig"), join(XDG_CONFIG_HOME || join(HOME, ".config"), "git")];
  const files = GIT_CONFIG_GLOBAL === undefined ? own : [GIT_CONFIG_GLOBAL];
  const named = files.flatMap((file) => linesOf(existsSync(join(file, "config")) ? join(file, "config") : file));
  const excludes = named.flatMap((line) => /^\s*excludesfile\s*=\s*"?([^"#;]+?)"?\s*$/i.exec(line)?.[1] ?? []);
  return [
    ...own,
    ...files,
    ...excludes.map((file) => resolve(dirname(files[0] ?? "/"), file.replace(/^~(?=\/)/, HOME))),
  ];
}
