/**
 * Run by a test in a process of its own: takes the lease of a plan and runs the graph of thirty steps under it. Kills
 * itself the moment the wanted number of steps is on record. Arguments: the store's url, the plan's id, the model's
 * url, the log of tools, that number.
 */
import { runThirtySteps } from "../actors/graph/testing/thirty-steps.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { endWithParent } from "./program.ts";

const [url = "", planId = "", modelUrl = "", toolLog = "", killAfter = ""] = process.argv.slice(2);
endWithParent();
await using store = await openStore(url);
const lease = await new PlanLifecycleService({ store }).startExecute(planId as PlanId, { ttlMs: 600_000 });
let recorded = 0;
const onRecorded = (): void => {
  recorded += 1;
  if (recorded === Number(killAfter)) process.kill(process.pid, "SIGKILL");
};
await runThirtySteps({ lease, modelUrl, toolLog, onRecorded });
