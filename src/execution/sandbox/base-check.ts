/**
 * A sandbox that was lost and made again must begin as the lost one did at every path that the plan has changed, or
 * the plan's recorded changes would overwrite other people's. From a recorded commit it always does; a directory may
 * have changed meanwhile, and then the plan has nothing to continue from.
 */
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { shown } from "../../domain/text/text.ts";
import { BaseContent } from "./base-content.ts";
import { stateHash } from "../../platform/file-state.ts";
import type { NetChange } from "../../changes/net-changes.ts";
import { removeHome, sandboxHome, type Sandbox, type SandboxPlace } from "./sandbox.ts";

export async function requireSameBeginning(
  place: SandboxPlace,
  sandbox: Sandbox,
  changes: ReadonlyMap<string, NetChange>,
): Promise<void> {
  const base = new BaseContent(sandbox);
  await using closing = new AsyncDisposableStack();
  closing.defer(() => base.close());
  for (const [path, { before }] of changes) {
    // A directory that stands now where a file was is a change too.
    const now = await base.state(path).catch(() => undefined);
    if (now === undefined ? before === undefined : stateHash(now) === before?.hash && now.mode === before.mode)
      continue;
    // Kept, it would be taken for the one that was lost.
    await removeHome(sandboxHome(place, sandbox.alias));
    throw new AgentsError(
      "tool_failed",
      `The sandbox of "${sandbox.alias}" was lost, and ${shown(path)} in ${sandbox.path} is not what it was when the plan began.`,
      {
        kept: "The plan's changes are recorded; nothing of yours was changed.",
        next: [nextStep("plan.diff", { plan: place.planId }), nextStep("plan.revert", { plan: place.planId })],
        detail: { resource: sandbox.alias, path },
      },
    );
  }
}
