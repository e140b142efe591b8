import { join } from "node:path";
import { DataDirectory } from "../../src/platform/data-directory.ts";
import { ActorService } from "../../src/catalog/actor-service.ts";
import { openStore } from "../../src/store/sqlite/open-store.ts";
import { PlanApplier } from "../../src/apply/plan-applier.ts";
import { PlanExecutor } from "../../src/runs/plan-executor.ts";
import { PlanLifecycleService } from "../../src/plans/plan-lifecycle-service.ts";
import { ProjectService } from "../../src/catalog/project-service.ts";
import { ResourceService } from "../../src/catalog/resource-service.ts";
import type { Plan } from "../../src/domain/plan/plan.ts";
import type { Store } from "../../src/store/port.ts";
import { profileAnywhere } from "../../src/testing/profile-anywhere.ts";
import { ALIAS } from "./world.ts";

/** A store below `data` that knows the repository as the only resource of the project that plans are made for. */
export async function storeFor(data: string, repository: string): Promise<Store> {
  const store = await openStore(`sqlite:${join(data, "ours.db")}`);
  const resource = { type: "git-checkout", name: ALIAS, arguments: { path: repository } };
  await new ResourceService({ store }).addResource(resource);
  await new ProjectService({ store }).createProject({ name: "bench", resources: [ALIAS] });
  return store;
}

/** A plan that ran the command, and the function that applies it. */
export async function executedPlan(
  store: Store,
  data: string,
  { name, command }: { readonly name: string; readonly command: string },
): Promise<{ plan: Plan; apply: () => Promise<unknown> }> {
  const service = new PlanLifecycleService({ store });
  const steps = [{ id: "change", tool: "shell_execute", params: { command } }];
  await new ActorService({ store }).addActor({ name, type: "tool", description: "Changes", steps });
  const definition = { description: "Change", definitionOfDone: "Changed", executionActor: `local/${name}` };
  await service.createAction({ name, ...definition });
  const automationProfile = await profileAnywhere(store);
  const { id } = await service.useAction({ action: name, projects: ["bench"], automationProfile });
  const { plan } = await new PlanExecutor({ store, service, data: new DataDirectory(data) }).execute(id);
  return { plan, apply: () => new PlanApplier({ store, service, data: new DataDirectory(data) }).apply(id) };
}
