/**
 * Opens and resets sandboxes. A sandbox that is lost or damaged is made again from the commit it was made of before.
 */
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { worksInPlace } from "../../domain/resource/resource.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import { emptyDirectory } from "../../platform/contained-directories.ts";
import { ifCode } from "../../platform/contained-path.ts";
import { git } from "../../git/git.ts";
import { openInPlace } from "./in-place-sandbox.ts";
import { hasRepository, sandboxGit } from "../../git/own-repository.ts";
import { removeTree } from "../../platform/remove-tree.ts";
import { gitIn, readFacts, type SandboxBeginning, type SandboxFacts, type SandboxTarget } from "./sandbox-facts.ts";
import { carriedView, type CarriedView } from "./carried/carried-view.ts";
import { copyDirectory } from "../../platform/directory-copy.ts";
import { makeSandbox } from "./sandbox-making.ts";
import { resetRepositories } from "./sandbox-repository.ts";
import { sweep } from "./swept-tree.ts";
import { withTemporaryHome } from "./temporary-home.ts";

export type { SandboxStrategy, SandboxTarget } from "./sandbox-facts.ts";

export interface Sandbox extends SandboxFacts {
  /** The directory to work in. */
  readonly root: string;
  /** Made just now, so that it is as the resource was. */
  readonly fresh: boolean;
  /** The directory in which its owner's commands record themselves (running-command.ts). */
  readonly commands?: string;
  /** The user's dependencies and caches as its commands see them; in place no command runs. */
  readonly carried?: () => Promise<CarriedView>;
}

export interface SandboxPlace {
  /** The directory below which all sandboxes are. */
  readonly directory: string;
  readonly planId: PlanId;
  readonly attempt: number;
}

/**
 * Opens the plan's sandbox of this resource, making it if this is the first time, and making it again where it was
 * lost or damaged. A half-made one is never taken for whole.
 */
export async function openSandbox(place: SandboxPlace, target: SandboxTarget): Promise<Sandbox> {
  if (worksInPlace(target)) return openInPlace(place.directory, target);
  const home = sandboxHome(place, target.alias);
  const root = join(home, "tree");
  const known = await readFacts(home);
  if (known !== undefined && (await isWhole(home, known))) {
    return { ...known, readOnly: target.readOnly, root, fresh: false, carried: carriedView(known, home) };
  }
  if (existsSync(home)) await removeHome(home);
  const base = target.base ?? beginningOf(known);
  const facts = await makeSandbox(
    home,
    pinningRef(place, target.alias),
    base === undefined ? target : { ...target, base },
  );
  return { ...facts, root, fresh: true, carried: carriedView(facts, home) };
}

export function sandboxHome(place: SandboxPlace, alias: string): string {
  return join(place.directory, place.planId, `${place.attempt}`, alias);
}

/** One for each sandbox: two of a plan may borrow from one repository, at different commits. */
export function pinningRef({ planId, attempt }: Pick<SandboxPlace, "planId" | "attempt">, alias: string): string {
  return `refs/cleveragents/${planId}/${attempt}/${alias}`;
}

/**
 * Out of the way in one step, so that a half-removed one is never taken for whole. One that is gone already is fine.
 */
export async function removeHome(home: string): Promise<void> {
  await withTemporaryHome(home, (temporary) => rename(home, temporary).catch(ifCode("ENOENT")));
}

/** A reset puts back all that a command can remove, but not without our repository, or the copy of the beginning. */
async function isWhole(home: string, facts: SandboxFacts): Promise<boolean> {
  if (facts.strategy === "filesystem_copy") return existsSync(join(home, "base"));
  const root = join(home, "tree");
  if (!hasRepository(home) || !existsSync(root)) return false;
  const { code } = await git(["cat-file", "-e", `${facts.base}^{tree}`], {
    ...gitIn({ ...facts, root }),
    accept: "any",
  });
  return code === 0;
}

function beginningOf(facts: SandboxFacts | undefined): SandboxBeginning | undefined {
  return facts?.base === undefined ? undefined : { commit: facts.base, ref: facts.ref, dirty: facts.dirty };
}

/** Back to the beginning. Ignored files, which are not part of a plan, stay. */
export async function resetSandbox(sandbox: Sandbox): Promise<void> {
  if (worksInPlace(sandbox)) throw new Error(`${sandbox.root} is the user's own directory: nothing resets it`);
  if (sandbox.base === undefined) {
    await removeTree(sandbox.root);
    await copyDirectory(join(sandbox.root, "..", "base"), sandbox.root);
    return;
  }
  const { root: tree, objects, base } = sandbox;
  await sweep(tree);
  await resetRepositories(sandboxGit(tree, objects), base);
  // Git leaves what is in a submodule to its own repository, of which there is none here.
  for (const submodule of sandbox.submodules) await emptyDirectory(sandbox.root, submodule);
}
