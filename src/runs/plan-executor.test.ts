/** Stops of an execution that are not failures: no money left, or a question. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DataDirectory } from "../platform/data-directory.ts";
import { ActorService } from "../catalog/actor-service.ts";
import { AwaitingInputError, BudgetError } from "../domain/errors/errors.ts";
import { PlanExecutor } from "./plan-executor.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { ProjectService } from "../catalog/project-service.ts";
import { ResourceService } from "../catalog/resource-service.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Tell } from "../domain/run-event.ts";
import { actionInput } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";

interface World extends AsyncDisposable {
  readonly service: PlanLifecycleService;
  readonly id: PlanId;
  /** Executes the plan; `stop` is thrown when its second step begins. Tells what became of the steps. */
  readonly execute: (stop?: Error) => Promise<string[]>;
}

async function world(): Promise<World> {
  const temporary = await TemporaryStore.open("file");
  const { store, directory } = temporary;
  const path = join(directory, "notes");
  mkdirSync(path);
  const steps = ["a", "b"].map((id) => ({
    id,
    tool: "write_file" as const,
    params: { path: `${id}.txt`, content: id },
  }));
  await new ActorService({ store }).addActor({ name: "local/worker", type: "tool", description: "works", steps });
  const service = new PlanLifecycleService({ store });
  await service.createAction(actionInput());
  await new ResourceService({ store }).addResource({ type: "fs-directory", name: "notes", arguments: { path } });
  await new ProjectService({ store }).createProject({ name: "shop", resources: [{ resource: "notes" }] });
  const { id } = await service.useAction({ action: "local/fix", projects: ["shop"] });
  const executor = new PlanExecutor({ store, service, data: new DataDirectory(directory) });
  const execute = async (stop?: Error): Promise<string[]> => {
    const seen: string[] = [];
    const tell: Tell = (event) => {
      if (!("step" in event)) return;
      seen.push(`${event.step} ${event.type.replace("step_", "")}`);
      if (stop !== undefined && event.step === "b") throw stop;
    };
    await executor.execute(id, { tell });
    return seen;
  };
  return { service, id, execute, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() };
}

test("a plan that ran out of money keeps its work, and continues after it once there is more", async () => {
  await using at = await world();
  const broke = new BudgetError("budget_exceeded", "There is no money left.");
  await expect(at.execute(broke)).rejects.toBe(broke);
  expect(await at.service.getPlan(at.id)).toMatchObject({ phase: "execute", state: "errored" });
  expect(await at.service.listFailures(at.id)).toMatchObject([{ category: "transient", message: broke.message }]);
  expect(await at.execute()).toEqual(["a recorded", "b started", "b done"]);
});

test("a plan that asks has not failed", async () => {
  await using at = await world();
  const asks = new AwaitingInputError("It waits.");
  await expect(at.execute(asks)).rejects.toBe(asks);
  expect(await at.service.getPlan(at.id)).toMatchObject({ phase: "execute", state: "processing" });
  expect(await at.service.listFailures(at.id)).toEqual([]);
});
