/**
 * Opens the workspaces of a plan: each sandbox is made, found or made again, recorded, and brought to the state of
 * the recorded changes.
 */
import { netChanges } from "../../changes/net-changes.ts";
import type { PlanChange } from "../../changes/plan-changes.ts";
import { endCommands, ownCommands } from "../../confinement/running-command.ts";
import { worksInPlace } from "../../domain/resource/resource.ts";
import type { Tell } from "../../domain/run-event.ts";
import { ChangesetStore } from "../../ledger/changesets.ts";
import type { Lease } from "../../ledger/leases.ts";
import { requireSameBeginning } from "../sandbox/base-check.ts";
import { findSandboxRecords, recordSandbox } from "../../ledger/sandbox-records.ts";
import { beginningIn } from "../sandbox/sandbox-record.ts";
import { openSandbox, sandboxHome, type Sandbox, type SandboxPlace, type SandboxTarget } from "../sandbox/sandbox.ts";
import { ensureSetup, setupNote, setupNotice } from "../setup/setup.ts";
import { openNetwork, openWorkspace } from "../workspace/open-workspace.ts";
import type { PlanExecutionContext } from "../workspace/plan-execution-context.ts";
import type { LateChanges, Workspace } from "../workspace/workspace.ts";

export interface OpenWorkspacesParts {
  readonly lease: Lease;
  /** Sandboxes are kept below it. */
  readonly directory: string;
  readonly targets: readonly SandboxTarget[];
  readonly context: PlanExecutionContext;
  readonly changes: readonly PlanChange[];
  readonly late?: LateChanges;
  readonly made?: MadeSandboxes | undefined;
  /** Where commands will run, so that the project is set up first; undefined where only files are read. */
  readonly setup?: { readonly signal: AbortSignal };
  readonly tell: Tell;
}

/**
 * The sandboxes that were made while a strategy was decided, when no command can run, and the epoch of that. Under the
 * next epoch, which no other process had in between, they need no reset: it would write every file again.
 */
export interface MadeSandboxes {
  readonly epoch: number;
  readonly aliases: readonly string[];
}

/** Adds each workspace to `opened`; returns them by the alias of the resource. */
export async function openWorkspaces(
  parts: OpenWorkspacesParts,
  opened: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Workspace>> {
  const { lease, directory, context, changes, late, made } = parts;
  const { store, plan, epoch } = lease;
  const untouched = made !== undefined && made.epoch + 1 === epoch ? made.aliases : [];
  const changesets = new ChangesetStore(store);
  const { network: access, requireConfinement } = plan.profile;
  const records = await store.read((reader) => findSandboxRecords(reader, plan.id, plan.attempt));
  const workspaces = new Map<string, Workspace>();
  for (const target of parts.targets) {
    const place = { directory, planId: plan.id, attempt: plan.attempt };
    const known = records.find(({ alias }) => alias === target.alias);
    const problem: { note?: string } = {};
    const sandbox = explaining(await ownSandbox(lease, place, { ...target, ...beginningIn(known) }), problem);
    if (known === undefined) await store.transaction((tx) => recordSandbox(tx, plan, sandbox));
    const { root, ref, base, dirty, fresh } = sandbox;
    const { alias: resource, strategy } = sandbox;
    parts.tell({ type: "sandbox", resource, strategy, root, place: target.path, ref, base, dirty, fresh });
    const contents = (hash: string): Promise<Uint8Array | undefined> => changesets.content(hash);
    const network = opened.use(openNetwork(access, target.path));
    const workspace = opened.use(openWorkspace({ sandbox, network, requireConfinement, context, contents, late }));
    const own = changes.filter((entry) => entry.resource === target.alias);
    if (sandbox.fresh && own.length > 0) await requireSameBeginning(place, sandbox, netChanges(own));
    const asMade = sandbox.fresh || untouched.includes(target.alias);
    if (!asMade || own.length > 0) await workspace.restore(netChanges(own));
    if (parts.setup !== undefined) {
      const options = { sandboxes: directory, network, requireConfinement, signal: parts.setup.signal };
      const outcome = await ensureSetup(sandbox, options);
      const notice = setupNotice(outcome, parts.targets.length > 1 ? target.alias : undefined);
      if (notice !== undefined) parts.tell(notice);
      if (outcome.kind === "failed") problem.note = setupNote(outcome);
    }
    workspaces.set(target.alias, workspace);
  }
  return workspaces;
}

/** A command that fails is told that the set-up failed too. */
function explaining(sandbox: Sandbox, problem: { readonly note?: string }): Sandbox {
  const { carried } = sandbox;
  if (carried === undefined) return sandbox;
  return {
    ...sandbox,
    carried: async () => {
      const view = await carried();
      const explain = (output: string): string | undefined =>
        [view.explain(output), problem.note].filter((one) => one !== undefined).join("\n") || undefined;
      return { ...view, explain };
    },
  };
}

/** Programs that an earlier owner of the plan left running in the sandbox are ended first. In place no command runs. */
async function ownSandbox({ epoch }: Lease, place: SandboxPlace, target: SandboxTarget): Promise<Sandbox> {
  if (worksInPlace(target)) return openSandbox(place, target);
  const home = sandboxHome(place, target.alias);
  await endCommands(home, epoch);
  const sandbox = await openSandbox(place, target);
  return { ...sandbox, commands: await ownCommands(home, epoch) };
}
