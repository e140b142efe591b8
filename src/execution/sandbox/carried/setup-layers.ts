/**
 * The results of set-up commands (`sandbox.setup`), kept beside the sandboxes: one directory for each command and state
 * of the lockfiles, which holds the directories of dependencies that the command made. A directory is there under its
 * final name only when the command has succeeded, so the remains of a killed one do not count.
 */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, utimesSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { commandPolicy } from "../../../confinement/command-policy.ts";
import { git } from "../../../git/git.ts";
import { sandboxGit } from "../../../git/own-repository.ts";
import type { IgnoredPart } from "./ignored-parts.ts";

const LOCKFILES: ReadonlySet<string> = new Set(
  `
  package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb deno.lock poetry.lock Pipfile.lock
  uv.lock pdm.lock pylock.toml Cargo.lock go.sum Gemfile.lock composer.lock mix.lock pubspec.lock Package.resolved
  Podfile.lock gradle.lockfile
`
    .trim()
    .split(/\s+/),
);
const REQUIREMENTS = /^(?:requirements|constraints)[\w.-]*\.(?:txt|in)$/;
/** A project without a lockfile is installed again when one of these changes. */
const MANIFESTS: ReadonlySet<string> = new Set(
  `
  package.json pyproject.toml setup.py Cargo.toml go.mod Gemfile composer.json pom.xml build.gradle build.gradle.kts
`
    .trim()
    .split(/\s+/),
);

export interface SetupPlace {
  readonly command: string;
  /** The directory of the finished set-up, whether or not it is there. */
  readonly directory: string;
}

/** Undefined where no set-up command is configured. */
export async function setupPlace(
  tree: { readonly root: string; readonly objects: string | undefined },
  sandboxes: string,
): Promise<SetupPlace | undefined> {
  const { setup: command } = commandPolicy();
  if (command === undefined) return undefined;
  const place = { cwd: tree.root, sandbox: sandboxGit(tree.root, tree.objects) };
  const { stdout } = await git(["ls-files", "-z", "--cached"], place);
  const names = stdout.toString("utf8").split("\0").slice(0, -1);
  const locks = names.filter((path) => LOCKFILES.has(basename(path)) || REQUIREMENTS.test(basename(path)));
  const files = locks.length > 0 ? locks : names.filter((path) => MANIFESTS.has(basename(path)));
  const hash = createHash("sha256").update(JSON.stringify([command, process.platform, process.arch]));
  for (const path of files.sort()) {
    const file = join(tree.root, path);
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) continue;
    const content = createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
    hash.update(JSON.stringify([path, content]));
  }
  return { command, directory: join(setupsIn(sandboxes), hash.digest("hex").slice(0, 32)) };
}

/** No plan has this name. */
export function setupsIn(sandboxes: string): string {
  return join(sandboxes, ".setups");
}

const LIST = "parts.json";

/** The list of what a set-up made: the last file that is written into its directory. */
export function listFile(directory: string): string {
  return join(directory, LIST);
}

/** Undefined when it has not succeeded yet. */
export function finishedSetup({ directory }: SetupPlace): IgnoredPart[] | undefined {
  const list = listFile(directory);
  if (!existsSync(list)) return undefined;
  const now = new Date();
  // The time of the last use.
  utimesSync(list, now, now);
  const paths = JSON.parse(readFileSync(list, "utf8")) as readonly string[];
  return paths.map((path, index) => ({ path, source: join(directory, `${index}`), kind: "dependencies" as const }));
}
