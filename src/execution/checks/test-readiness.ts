/**
 * Whether the tests of a project can run in its sandbox, and why not: known before anything runs, from the files of the
 * checkout. People get it as one line; the same facts are there as data, for the prompt that tells a model about its
 * sandbox.
 */
import { existsSync, readdirSync, type Dirent } from "node:fs";
import { join } from "node:path";
import { confinementHere } from "../../confinement/availability.ts";
import { commandPolicy } from "../../confinement/command-policy.ts";
import type { NetworkAccess } from "../../domain/profile/automation-profile.ts";
import type { SandboxStrategy } from "../../domain/resource/resource.ts";
import { ifCode } from "../../platform/contained-path.ts";
import { findProgram } from "../../platform/programs.ts";
import { ignoredParts } from "../sandbox/carried/ignored-parts.ts";
import { findProjectChecks, projectFiles, type ProjectCheck, type ProjectFiles } from "./project-checks.ts";

export interface SandboxAbilities {
  /** The parts of the checkout that come along besides what git tracks, with the number of directories in each. */
  readonly carried: readonly { readonly path: string; readonly directories: number; readonly more: boolean }[];
  /** The command that sets the project up before the first one runs. */
  readonly setup: string | undefined;
  /** How far commands reach into the network. */
  readonly network: NetworkAccess;
  /** The commands by which the project checks itself, the first of each purpose being the one to run. */
  readonly checks: readonly ProjectCheck[];
  readonly tests: { readonly canRun: true } | { readonly canRun: false; readonly why: string };
}

export interface ReadinessQuestion {
  /** The user's checkout or directory. */
  readonly path: string;
  readonly strategy: SandboxStrategy;
  readonly network: NetworkAccess;
  readonly requireConfinement: boolean;
}

export async function sandboxAbilities(question: ReadinessQuestion): Promise<SandboxAbilities> {
  const { path, strategy, network, requireConfinement } = question;
  const { kind } = await confinementHere();
  const mounts = kind === "bubblewrap" || kind === "namespaces";
  const parts = mounts && strategy === "git_worktree" ? await ignoredParts(path, commandPolicy().carry) : [];
  const carried = parts
    .filter((part) => part.kind !== "file")
    .map((part) => ({ path: part.path, ...directoriesIn(part.source) }));
  const files = projectFiles(path);
  const checks = findProjectChecks(files);
  const refused = kind === "none" && requireConfinement;
  const setup = mounts && strategy === "git_worktree" ? commandPolicy().setup : undefined;
  const has = (name: string): boolean =>
    setup !== undefined ||
    (strategy === "git_worktree" ? carried.some((one) => one.path === name) : existsSync(join(path, name)));
  const why = refused
    ? "commands are refused, because nothing here can confine them"
    : obstacle(files, checks, { path, has });
  return { carried, setup, network, checks, tests: why === undefined ? { canRun: true } : { canRun: false, why } };
}

function obstacle(
  files: ProjectFiles,
  checks: readonly ProjectCheck[],
  { path, has }: { readonly path: string; readonly has: (name: string) => boolean },
): string | undefined {
  const check = checks.find(({ purpose }) => purpose === "test");
  if (check === undefined) return "no test command was found";
  const [program = ""] = check.command.split(" ");
  if (!program.includes("/") && findProgram(program) === undefined) return `${program} is not installed`;
  if (check.file !== "package.json" || !needsPackages(files.get("package.json") ?? "") || has("node_modules"))
    return undefined;
  if (existsSync(join(path, ".pnp.cjs"))) return undefined;
  if (!existsSync(join(path, "node_modules")))
    return "package.json names packages, and the checkout has no node_modules";
  return "node_modules does not come along";
}

function needsPackages(manifest: string): boolean {
  return /"(?:dependencies|devDependencies)"\s*:\s*\{\s*"/.test(manifest);
}

/** More directories than this are not counted. */
const COUNTED = 5000;

function directoriesIn(path: string): { readonly directories: number; readonly more: boolean } {
  let directories = 0;
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined && directories < COUNTED; next = waiting.pop()) {
    directories += 1;
    for (const entry of entriesOf(next)) if (entry.isDirectory()) waiting.push(join(next, entry.name));
  }
  return { directories, more: waiting.length > 0 };
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    return ifCode("EACCES", "ENOENT")(error) ?? [];
  }
}

/** As `agents run` says it. */
export function readinessLine({ carried, setup, checks, tests }: SandboxAbilities, name?: string): string {
  const subject = name === undefined ? "tests" : `tests of ${name}`;
  if (!tests.canRun) return `${subject}: cannot run in the sandbox (${tests.why})`;
  const command = checks.find(({ purpose }) => purpose === "test")?.command ?? "";
  const shown = carried.slice(0, 3).map(({ path, directories, more }) => {
    const number = directories.toLocaleString("en-US");
    return `${path} comes along, ${more ? "more than " : ""}${number} ${directories === 1 ? "directory" : "directories"}`;
  });
  const first = setup === undefined ? [] : [`set up by ${setup}, once for each lockfile`];
  const rest = carried.length > 3 ? [`${carried.length - 3} more come along`] : [];
  return `${subject}: can run (${[command, ...first, ...shown, ...rest].join("; ")})`;
}
