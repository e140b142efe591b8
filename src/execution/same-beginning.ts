import { AgentsError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";
import { BaseContent } from "./base-content.ts";
import { stateHash } from "./file-state.ts";
import type { NetChange } from "./net-changes.ts";
import { removeHome, sandboxHome, type Sandbox, type SandboxPlace } from "./sandbox.ts";

/**
 * A sandbox that was lost and made again must begin as the lost one did wherever the plan has changed something, or its recorded
 * changes would be laid over somebody else's. From a recorded commit it always does; a directory may have moved on meanwhile, and
 * then there is nothing the plan could go on from.
 */
export async function requireSameBeginning(
  place: SandboxPlace,
  sandbox: Sandbox,
  changes: ReadonlyMap<string, NetChange>,
): Promise<void> {
  const base = new BaseContent(sandbox);
  await using closing = new AsyncDisposableStack();
  closing.defer(() => base.close());
  for (const [path, { before }] of changes) {
    // What stands where a file was, if it is a directory by now, is not what it was either.
    const now = await base.state(path).catch(() => undefined);
    if (now === undefined ? before === undefined : stateHash(now) === before?.hash && now.mode === before.mode)
      continue;
    // Kept, it would be taken for the one that was lost.
    await removeHome(sandboxHome(place, sandbox.alias));
    throw new AgentsError(
      "tool_failed",
      `The sandbox of "${sandbox.alias}" was lost, and ${shown(path)} in ${sandbox.path} is not what it was when the plan began.`,
      {
        kept: "What the plan changed is recorded; nothing of yours was changed.",
        next: [`agents plan diff ${place.planId}`, `agents plan revert ${place.planId}`],
        detail: { resource: sandbox.alias, path },
      },
    );
  }
}
