/**
 * Run by a test in a process of its own: executes a plan of a model behind HTTP, and kills itself right after so many
 * commits (0 for never). Arguments: the store's url, the plan's id, the data directory, the model's endpoint, the
 * number of commits.
 */
import { DataDirectory } from "../../platform/data-directory.ts";
import { ModelGateway } from "../../actors/model-gateway.ts";
import { openStore } from "../../store/sqlite/open-store.ts";
import { PlanExecutor } from "../plan-executor.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import type { Tx } from "../../store/port.ts";
import { alteredStore } from "../../testing/altered-store.ts";
import { endWithParent, tell } from "../../testing/program.ts";

const [url = "", planId = "", dataDir = "", endpoint = "", killAfter = "0"] = process.argv.slice(2);
endWithParent();
await using opened = await openStore(url);
let commits = 0;
const store = alteredStore(opened, {
  transaction: async <T>(unit: (tx: Tx) => Promise<T>): Promise<T> => {
    const result = await opened.transaction(unit);
    commits += 1;
    if (commits === Number(killAfter)) process.kill(process.pid, "SIGKILL");
    return result;
  },
});
const settings = new Map([["provider.vllm.base-url", endpoint]]);
const models = new ModelGateway({ settings, environment: {}, count: (text) => text.length });
const service = new PlanLifecycleService({ store });
const executor = new PlanExecutor({
  store,
  service,
  data: new DataDirectory(dataDir),
  models: () => Promise.resolve(models),
});
const { plan } = await executor.execute(planId as PlanId);
tell({ state: plan.state, commits });
