/**
 * The "sandbox" of a plan that works in place: there is no copy, and its tools read the user's own directory. The
 * changes of a tool call wait in memory until the call has ended; then they are written through the journal that
 * apply uses, all of them or none, and recorded together with the step. So a step that was killed, or met another
 * program's change, leaves nothing that would have to be told from a person's work. Changes that can only be found by
 * comparing before and after cannot be told from that either, and are refused.
 */
import { existsSync } from "node:fs";
import { sep } from "node:path";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import { shown } from "../../domain/text/text.ts";
import { checkoutProblem } from "../../git/checkout.ts";
import { git } from "../../git/git.ts";
import type { Sandbox, SandboxTarget } from "./sandbox.ts";

/** Our own directories in a user's tree, during a landing, have names that begin so. */
export const STAGING_PREFIX = ".cleveragents-";

/**
 * Looks at the user's directory and refuses what could not be worked in; nothing is written, in the repository
 * neither.
 */
export async function openInPlace(directory: string, target: SandboxTarget): Promise<Sandbox> {
  const { alias, path, branch, readOnly, versioned = false } = target;
  if (!existsSync(path)) throw unfitError(`${shown(path, 200)} does not exist.`);
  if (directory.startsWith(path + sep)) {
    throw unfitError(`${path} contains the data directory, and a plan in place could change it.`, [
      { text: "use a --data-dir outside of it" },
    ]);
  }
  const facts = { alias, strategy: "none", path, branch, readOnly, versioned, base: undefined, dirty: false } as const;
  const place = { root: path, fresh: false, objects: undefined } as const;
  if (!versioned) return { ...facts, ...place, ref: undefined, submodules: [] };
  const problem = await checkoutProblem(path, branch);
  if (problem !== undefined) throw unfitError(`The plan cannot work in place: ${problem.message}.`);
  const { code, stdout } = await git(["symbolic-ref", "--quiet", "HEAD"], { cwd: path, accept: [0, 1] });
  const ref = code === 0 ? stdout.toString("utf8").trimEnd() : undefined;
  if (branch !== undefined && ref !== `refs/heads/${branch}`) {
    throw unfitError(
      `The resource "${alias}" is for the branch ${shown(branch)}, which is not checked out in ${path}.`,
      [{ text: `git switch ${branch}` }],
    );
  }
  return { ...facts, ...place, ref, submodules: [] };
}

function unfitError(message: string, next: readonly NextStep[] = []): AgentsError {
  return new AgentsError("resource_failed", message, { kept: "Nothing of yours was changed.", next });
}

/** For everything whose changes are only found by looking before and after. */
export function notInPlaceError(what: string, { alias, path }: Pick<Sandbox, "alias" | "path">): AgentsError {
  return new AgentsError(
    "policy",
    `${what} cannot run in place: its changes in ${path} could not be told apart from a person's changes there.`,
    {
      kept: "It was not run, and nothing was changed.",
      next: [{ text: `add the resource "${alias}" again without --sandbox none` }, nextStep("resource.type.list")],
      detail: { resource: alias, path },
    },
  );
}
