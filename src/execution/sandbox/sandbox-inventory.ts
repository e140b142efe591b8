/**
 * The sandboxes on this disk, and which of them no plan will need again: those of plans that are final, and of
 * attempts a plan has left behind. No such sandbox can come into use any more, so no executing process need be asked;
 * and every change made in it is recorded in the store, bytes included. A half-made or half-removed sandbox belongs
 * to no process as soon as its lock is free.
 */
import { existsSync } from "node:fs";
import { readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { isId, type PlanId } from "../../domain/names/ids.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { stateText } from "../../domain/plan/standing.ts";
import { isTerminal } from "../../domain/plan/transitions.ts";
import { findPlan } from "../../store/tables/plans.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import type { Store } from "../../store/port.ts";
import { ifCode } from "../../platform/contained-path.ts";
import { git } from "../../git/git.ts";
import { pinningRef, removeHome, sandboxHome, type Sandbox, type SandboxPlace } from "./sandbox.ts";
import { readFacts, type SandboxFacts } from "./sandbox-facts.ts";
import { isHeld, removeLeftOver, temporaryNames } from "./temporary-home.ts";

export interface KeptSandbox {
  readonly planId: PlanId;
  readonly attempt: number;
  readonly alias: string;
  /** The user's checkout or directory it was made of; undefined where a killed process did not get that far. */
  readonly path: string | undefined;
  readonly home: string;
  readonly removable: boolean;
  readonly why: string;
  /** Not a sandbox, but what a killed process left of one. */
  readonly leftOver: boolean;
}

interface Verdict {
  readonly removable: boolean;
  readonly why: string;
}

export async function listSandboxes(store: Store, directory: string): Promise<KeptSandbox[]> {
  const kept: KeptSandbox[] = [];
  for (const place of await attemptsIn(directory)) {
    kept.push(...(await inAttempt(directory, place, await judge(store, place))));
  }
  return kept;
}

/** Those of the plan's current attempt that are on this disk. */
export async function sandboxesOf(directory: string, plan: Pick<Plan, "id" | "attempt">): Promise<Sandbox[]> {
  const home = join(directory, plan.id, String(plan.attempt));
  const sandboxes: Sandbox[] = [];
  for (const alias of await names(home)) {
    const facts = await readFacts(join(home, alias));
    if (facts?.alias === alias) sandboxes.push({ ...facts, root: join(home, alias, "tree"), fresh: false });
  }
  return sandboxes;
}

/**
 * No attempt of a plan has this number: files as they will be once it is applied are validated there, and removed
 * after that.
 */
export const MERGED_ATTEMPT = 0;

/** Takes one away that only its maker uses. */
export async function discardSandbox(place: SandboxPlace, alias: string): Promise<void> {
  const home = sandboxHome(place, alias);
  if (!existsSync(home)) return;
  await unpin({ ...place, alias }, await readFacts(home));
  await removeHome(home);
  await removeIfEmpty(place.directory, place);
}

interface Attempt {
  readonly planId: PlanId;
  readonly attempt: number;
}

async function attemptsIn(directory: string): Promise<Attempt[]> {
  const found: Attempt[] = [];
  for (const planId of (await names(directory)).filter(isId) as PlanId[]) {
    const attempts = (await names(join(directory, planId))).filter((name) => /^\d+$/.test(name));
    found.push(...attempts.map((name) => ({ planId, attempt: Number(name) })));
  }
  return found;
}

async function judge(store: Store, { planId, attempt }: Attempt): Promise<Verdict> {
  const plan = await store.read((reader) => findPlan(reader, planId));
  if (plan === undefined) return { removable: false, why: "its plan is not in this store" };
  if (isTerminal(plan)) return { removable: true, why: `the plan is ${plan.state}` };
  const inUse = attempt === MERGED_ATTEMPT && plan.state === "processing";
  if (attempt < plan.attempt && !inUse) return { removable: true, why: `the plan is at attempt ${plan.attempt}` };
  return { removable: false, why: `the plan is ${stateText(plan)}` };
}

async function inAttempt(directory: string, place: Attempt, verdict: Verdict): Promise<KeptSandbox[]> {
  const above = join(directory, place.planId, String(place.attempt));
  const kept: KeptSandbox[] = [];
  const left = await temporaryNames(above);
  for (const alias of (await names(above)).filter((name) => !left.some((other) => name.startsWith(other)))) {
    const facts = await readFacts(join(above, alias));
    if (facts === undefined) continue;
    kept.push({ ...place, alias, path: facts.path, home: join(above, alias), leftOver: false, ...verdict });
  }
  for (const name of left) {
    const home = join(above, name);
    const alias = name.slice(0, name.lastIndexOf("."));
    const facts = await readFacts(`${home}.tmp`);
    kept.push({ ...place, alias, path: facts?.path, home, leftOver: true, ...(await judgeLeftOver(home, verdict)) });
  }
  return kept;
}

/** While the plan can continue and has no sandbox yet, only a half-made one says where its ref is. */
async function judgeLeftOver(home: string, verdict: Verdict): Promise<Verdict> {
  if (await isHeld(home)) return { removable: false, why: "another process is making or removing it" };
  const whole = home.slice(0, home.lastIndexOf("."));
  if (!verdict.removable && !(existsSync(whole) && existsSync(`${home}.tmp`))) return verdict;
  return { removable: true, why: "left by a process that was killed" };
}

/** Removes every sandbox that no plan needs any more, and returns them. Two processes that do so at once take turns. */
export async function removeUnneeded(store: Store, directory: string): Promise<KeptSandbox[]> {
  return withFileLock(`${directory}.lock`, async () => {
    const removed: KeptSandbox[] = [];
    for (const kept of await listSandboxes(store, directory)) {
      if (kept.removable && (await removeSandbox(directory, kept))) removed.push(kept);
    }
    for (const place of await attemptsIn(directory)) {
      if ((await judge(store, place)).removable) await removeIfEmpty(directory, place);
    }
    return removed;
  });
}

/**
 * Removes one removable sandbox, and before it the ref that kept its commit alive: if the process is killed in
 * between, the sandbox is found again. False while another process makes or removes it.
 */
async function removeSandbox(directory: string, kept: KeptSandbox): Promise<boolean> {
  const above = join(directory, kept.planId, String(kept.attempt));
  if (kept.leftOver) {
    const removed = await removeLeftOver(kept.home, async (temporary) => {
      if (!existsSync(join(above, kept.alias))) await unpin(kept, await readFacts(temporary));
    });
    if (!removed) return false;
  } else {
    await unpin(kept, await readFacts(kept.home));
    await removeHome(kept.home);
  }
  return true;
}

async function removeIfEmpty(directory: string, { planId, attempt }: Attempt): Promise<void> {
  const plan = join(directory, planId);
  for (const path of [join(plan, String(attempt)), plan]) await rmdir(path).catch(ifCode("ENOTEMPTY", "ENOENT"));
}

async function unpin(
  kept: Pick<KeptSandbox, "planId" | "attempt" | "alias">,
  facts: SandboxFacts | undefined,
): Promise<void> {
  if (facts?.strategy !== "git_worktree" || !existsSync(facts.path)) return;
  await git(["update-ref", "-d", pinningRef(kept, kept.alias)], { cwd: facts.path, accept: [0, 128] });
}

async function names(directory: string): Promise<string[]> {
  const entries = (await readdir(directory, { withFileTypes: true }).catch(ifCode("ENOENT"))) ?? [];
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
