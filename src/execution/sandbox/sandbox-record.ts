import type { SandboxRecord } from "../../ledger/sandbox-records.ts";
import type { SandboxTarget } from "./sandbox.ts";

/** Where a sandbox that has to be made again starts: at the recorded commit, never where the branch is by now. */
export function beginningIn(record: SandboxRecord | undefined): Pick<SandboxTarget, "base"> {
  if (record?.baseCommit === undefined) return {};
  return { base: { commit: record.baseCommit, ref: record.ref, dirty: record.dirty } };
}
