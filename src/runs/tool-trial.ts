/**
 * One call of a tool in a throwaway sandbox: the same pipeline as in a plan, and nothing of it stays. The changes are
 * kept in a store in memory until they are shown.
 */
import { diffChanges, type PlanDiff } from "../changes/diff-of-plan.ts";
import type { PlanChange } from "../changes/plan-changes.ts";
import type { ChangeEntry, ChangeEntryInput, FileImageInput } from "../domain/plan/change-entry.ts";
import { monotonicIds, type ChangesetId, type PlanId } from "../domain/names/ids.ts";
import type { NetworkAccess } from "../domain/profile/automation-profile.ts";
import type { JsonObject } from "../domain/values/json.ts";
import { discardSandbox } from "../execution/sandbox/sandbox-inventory.ts";
import { openSandbox, type SandboxTarget } from "../execution/sandbox/sandbox.ts";
import { perform, told } from "../execution/tools/tool-pipeline.ts";
import { ToolSet } from "../execution/tools/tool-set.ts";
import type { AddedTool } from "../execution/tools/tool.ts";
import { openNetwork, openWorkspace } from "../execution/workspace/open-workspace.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import { maskedJson } from "../platform/masking.ts";
import { commitContents, stageContent } from "../store/contents/contents.ts";
import type { Store } from "../store/port.ts";
import { openStore } from "../store/sqlite/open-store.ts";

export interface Trial {
  readonly text: string;
  readonly failure: string | undefined;
  readonly diff: PlanDiff;
}

export async function tryOwnTool(
  tool: AddedTool,
  params: JsonObject,
  place: {
    /** Sandboxes are kept below it. */
    readonly directory: string;
    readonly target: SandboxTarget;
    readonly network: NetworkAccess;
    readonly requireConfinement: boolean;
    readonly signal: AbortSignal;
  },
): Promise<Trial> {
  const { directory, target, requireConfinement, signal } = place;
  const at = { directory, planId: monotonicIds()() as PlanId, attempt: 1 };
  await using scratch = await openStore("memory:");
  const changes = new TrialChanges(scratch);
  try {
    const sandbox = await openSandbox(at, target);
    await using network = openNetwork(place.network, target.path);
    await using workspace = openWorkspace({
      sandbox,
      network,
      requireConfinement,
      context: { recordChanges: (entries) => changes.record(entries) },
      contents: (hash) => changes.content(hash),
    });
    const request = { tool: tool.name, params, by: "try", forModel: true } as const;
    const environment = {
      tools: new ToolSet([tool]),
      workspaces: new Map([[target.alias, workspace]]),
      readOnly: false,
    };
    const output = maskedJson(await perform(request, { ...environment, signal })).value;
    const { text = "", failure } = told(request, output, environment.tools);
    return { text, failure, diff: await changes.diff() };
  } finally {
    await discardSandbox(at, target.alias);
  }
}

class TrialChanges {
  readonly #store: Store;
  readonly #entries: PlanChange[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  async record(entries: readonly ChangeEntryInput[]): Promise<ChangeEntry[]> {
    const recorded: PlanChange[] = [];
    for (const { resource, path, operation, ...entry } of entries) {
      const sequence = this.#entries.length + recorded.length + 1;
      const about = { changesetId: "try" as ChangesetId, sequence, resource, path, operation, at: 0, step: "try" };
      const credit = { fromPath: entry.fromPath, toolInvocation: undefined, decision: undefined };
      const [before, after] = [await this.#image(entry.before), await this.#image(entry.after)];
      recorded.push({ ...about, ...credit, before, after });
    }
    this.#entries.push(...recorded);
    return recorded;
  }

  async #image(given: FileImageInput | undefined): Promise<ChangeEntry["before"]> {
    if (given === undefined || "hash" in given) return given;
    const staged = await stageContent(this.#store, given.content);
    await this.#store.transaction((tx) => commitContents(tx, [staged]));
    return { hash: staged.hash, mode: given.mode };
  }

  async content(hash: string): Promise<Uint8Array | undefined> {
    return new ChangesetStore(this.#store).content(hash);
  }

  diff(): Promise<PlanDiff> {
    return diffChanges(new ChangesetStore(this.#store), this.#entries);
  }
}
