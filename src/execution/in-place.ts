import { existsSync } from "node:fs";
import { sep } from "node:path";
import type { InvocationEnd } from "../domain/decision.ts";
import { AgentsError } from "../domain/errors.ts";
import type { ChangesetId, DecisionId, InvocationId } from "../domain/ids.ts";
import type { ChangeOperation } from "../domain/change-entry.ts";
import type { JsonObject } from "../domain/json.ts";
import { shown } from "../domain/text.ts";
import { checkoutProblem } from "./checkout.ts";
import type { FileState } from "./file-state.ts";
import { git } from "./git.ts";
import type { Sandbox, SandboxTarget } from "./sandbox.ts";

/**
 * Working in place: the plan has no copy, its file tools read the user's own directory, and what a tool call is about to change there
 * is kept in memory until the call has ended. Then it lands through the same journal that apply uses, all of it or nothing, and is
 * recorded together with the step. So a step that was killed, or met somebody else's change, left nothing that would have to be told
 * from a person's work. What can only be found by comparing before and after cannot be told from that either, and is refused.
 */
export interface PendingChange {
  readonly path: string;
  readonly fromPath?: string;
  readonly operation: ChangeOperation;
  readonly before: FileState | undefined;
  readonly after: FileState | undefined;
}

export interface PendingChanges {
  readonly changes: readonly PendingChange[];
  /** Directories that go together with the last file in them. */
  readonly emptied: readonly string[];
}

/** What the calls that are under way are about to change, each by the step that makes it. */
export class PendingCalls {
  readonly #calls = new Map<string, { readonly changes: PendingChange[]; readonly emptied: string[] }>();

  of(by: string): { readonly changes: PendingChange[]; readonly emptied: string[] } {
    const pending = this.#calls.get(by) ?? { changes: [], emptied: [] };
    this.#calls.set(by, pending);
    return pending;
  }

  has(by: string): boolean {
    return (this.#calls.get(by)?.changes.length ?? 0) > 0;
  }

  /** What a call that failed was about to change is forgotten. */
  drop(by: string): void {
    this.#calls.delete(by);
  }
}

/** A step that has ended, with what it is about to change: recorded together with its effect, or not at all. */
export interface EndedStep extends PendingChanges {
  readonly key: string;
  readonly result: JsonObject;
  readonly changeset: ChangesetId;
  readonly invocation: InvocationId;
  readonly decision: DecisionId;
  readonly end: Extract<InvocationEnd, { outcome: "ok" }>;
  /** Where it changes something; undefined when it changes nothing. */
  readonly where: Pick<Sandbox, "alias" | "root"> | undefined;
}

export type LandStep = (step: EndedStep) => Promise<void>;

/** The names of our own directories in a user's tree, while something lands. */
export const STAGING_PREFIX = ".cleveragents-";

/** Looks at the user's directory and refuses what could not be worked in; nothing is written, in the repository neither. */
export async function openInPlace(directory: string, target: SandboxTarget): Promise<Sandbox> {
  const { alias, path, branch, readOnly, versioned = false } = target;
  if (!existsSync(path)) throw unfit(`${shown(path, 200)} does not exist.`);
  if (directory.startsWith(path + sep)) {
    throw unfit(`${path} contains the data directory, and a plan in place could change it.`, [
      "use a --data-dir outside of it",
    ]);
  }
  const facts = { alias, strategy: "none", path, branch, readOnly, versioned, base: undefined, dirty: false } as const;
  const place = { root: path, fresh: false, objects: undefined } as const;
  if (!versioned) return { ...facts, ...place, ref: undefined, submodules: [] };
  const problem = await checkoutProblem(path, branch);
  if (problem !== undefined) throw unfit(`The plan cannot work in place: ${problem.message}.`);
  const { code, stdout } = await git(["symbolic-ref", "--quiet", "HEAD"], { cwd: path, accept: [0, 1] });
  const ref = code === 0 ? stdout.toString("utf8").trimEnd() : undefined;
  if (branch !== undefined && ref !== `refs/heads/${branch}`) {
    throw unfit(`The resource "${alias}" is for the branch ${shown(branch)}, which is not checked out in ${path}.`, [
      `git switch ${branch}`,
    ]);
  }
  return { ...facts, ...place, ref, submodules: [] };
}

function unfit(message: string, next: readonly string[] = []): AgentsError {
  return new AgentsError("resource_failed", message, { kept: "Nothing of yours was changed.", next });
}

/** For everything whose changes are only found by looking before and after. */
export function notInPlace(what: string, { alias, path }: Pick<Sandbox, "alias" | "path">): AgentsError {
  return new AgentsError(
    "policy",
    `${what} cannot run in place: what it changes in ${path} could not be told from what a person changes there meanwhile.`,
    {
      kept: "It was not run, and nothing was changed.",
      next: [`add the resource "${alias}" again without --sandbox none`, "agents resource type list"],
      detail: { resource: alias, path },
    },
  );
}
