import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { isId, type PlanId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import { isTerminal } from "../domain/transitions.ts";
import { findPlan } from "../store/plans.ts";
import type { Store } from "../store/store.ts";
import { ifCode } from "./contained-path.ts";
import { git } from "./git.ts";
import { openSandbox, pinningRef, SANDBOX_FACTS, type Sandbox, type SandboxTarget } from "./sandbox.ts";

/**
 * The sandboxes on this disk, and which of them nobody will need again: those of plans that are final, and of attempts a plan has
 * left behind. No such sandbox can come into use any more, so no lock is needed to remove it; and every change made in it is recorded
 * in the store, bytes included.
 */
export interface KeptSandbox {
  readonly planId: PlanId;
  readonly attempt: number;
  readonly alias: string;
  /** The user's checkout or directory it was made of. */
  readonly path: string;
  readonly home: string;
  readonly removable: boolean;
  readonly why: string;
}

export async function listSandboxes(store: Store, directory: string): Promise<KeptSandbox[]> {
  const kept: KeptSandbox[] = [];
  for (const planId of (await names(directory)).filter(isId) as PlanId[]) {
    const plan = await store.read((reader) => findPlan(reader, planId));
    for (const attemptName of await names(join(directory, planId))) {
      const attempt = Number(attemptName);
      const verdict =
        plan === undefined
          ? { removable: false, why: "its plan is not in this store" }
          : isTerminal(plan)
            ? { removable: true, why: `the plan is ${plan.state}` }
            : attempt < plan.attempt
              ? { removable: true, why: `the plan is at attempt ${plan.attempt}` }
              : { removable: false, why: `the plan is ${plan.phase}/${plan.state}` };
      for (const alias of await names(join(directory, planId, attemptName))) {
        const home = join(directory, planId, attemptName, alias);
        const facts = await readFacts(home);
        if (facts !== undefined) kept.push({ planId, attempt, alias, path: facts.path, home, ...verdict });
      }
    }
  }
  return kept;
}

/** Those of the plan's current attempt that are on this disk. */
export async function sandboxesOf(directory: string, plan: Pick<Plan, "id" | "attempt">): Promise<Sandbox[]> {
  const place = { directory, planId: plan.id, attempt: plan.attempt };
  const home = join(directory, plan.id, String(plan.attempt));
  const sandboxes: Sandbox[] = [];
  for (const alias of await names(home)) {
    const target = await readFacts(join(home, alias));
    if (target !== undefined && target.alias === alias) sandboxes.push(await openSandbox(place, target));
  }
  return sandboxes;
}

/** Removes one removable sandbox, and the ref that kept its commit alive. */
export async function removeSandbox(directory: string, kept: KeptSandbox): Promise<void> {
  const facts = await readFacts(kept.home);
  // Out of the way in one step, so that a half-removed one is never taken for whole.
  const doomed = `${kept.home}.${randomUUID()}.tmp`;
  await rename(kept.home, doomed);
  await rm(doomed, { recursive: true, force: true });
  for (const parent of [join(directory, kept.planId, String(kept.attempt)), join(directory, kept.planId)]) {
    await rmdir(parent).catch(ifCode("ENOTEMPTY"));
  }
  if (facts?.strategy !== "git_worktree" || !existsSync(kept.path)) return;
  await git(["update-ref", "-d", pinningRef(kept, kept.alias)], { cwd: kept.path, accept: [0, 128] });
}

async function names(directory: string): Promise<string[]> {
  const entries = (await readdir(directory, { withFileTypes: true }).catch(ifCode("ENOENT"))) ?? [];
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** Undefined for anything that is not a whole sandbox of ours. */
async function readFacts(home: string): Promise<SandboxTarget | undefined> {
  const text = await readFile(join(home, SANDBOX_FACTS), "utf8").catch(ifCode("ENOENT"));
  return text === undefined ? undefined : (JSON.parse(text) as SandboxTarget);
}
