/** Tools that are not built in, in a plan: in the one pipeline, and fixed at their first use. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ActorService } from "../catalog/actor-service.ts";
import { ProjectService } from "../catalog/project-service.ts";
import { ResourceService } from "../catalog/resource-service.ts";
import type { ToolSource } from "../execution/tools/tool-source.ts";
import { ParameterSchema } from "../execution/tools/parameter-schema.ts";
import { recordedTools } from "../ledger/recorded-tools.ts";
import { findInvocations } from "../ledger/invocations.ts";
import { DataDirectory } from "../platform/data-directory.ts";
import { REGULAR } from "../platform/file-state.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { actionInput } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { PlanExecutor } from "./plan-executor.ts";

const PARAMETERS = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
};

/** A tool that writes its version into a file, and counts how often it was asked for. */
class Stamps implements ToolSource {
  readonly source = "own";
  asked = 0;
  version = 1;
  fails = false;

  async offered(): ReturnType<ToolSource["offered"]> {
    this.asked += 1;
    const about = { description: "Stamp a file", source: "own", writes: true, compared: false } as const;
    const definition = { version: this.version };
    return [{ name: "local/stamp-file", ...about, parameters: PARAMETERS, definition }];
  }

  bound({ definition, parameters, ...facts }: Parameters<ToolSource["bound"]>[0]): ReturnType<ToolSource["bound"]> {
    return {
      ...facts,
      schema: new ParameterSchema(parameters),
      run: async ({ path }, { workspace, by }) => {
        if (this.fails) return { text: "It did not work.", failure: "The stamp is dry." };
        const content = Buffer.from(`version ${JSON.stringify(definition["version"])}\n`);
        await workspace.change(by, path as string, () => ({ content, mode: REGULAR }));
        return { text: "Stamped." };
      },
    };
  }
}

async function world(tool: string, params: Record<string, string> = { path: "a.txt" }) {
  const temporary = await TemporaryStore.open("file");
  const { store, directory } = temporary;
  const path = join(directory, "notes");
  mkdirSync(path);
  const steps = [{ id: "stamp", tool, params }];
  await new ActorService({ store }).addActor({ name: "local/worker", type: "tool", description: "works", steps });
  const service = new PlanLifecycleService({ store });
  await service.createAction(actionInput());
  await new ResourceService({ store }).addResource({ type: "fs-directory", name: "notes", arguments: { path } });
  await new ProjectService({ store }).createProject({ name: "shop", resources: [{ resource: "notes" }] });
  const { id } = await service.useAction({ action: "local/fix", projects: ["shop"] });
  const stamps = new Stamps();
  const data = new DataDirectory(directory);
  const execute = (): Promise<unknown> => new PlanExecutor({ store, service, data, sources: [stamps] }).execute(id);
  const written = (): string => readFileSync(join(directory, "sandboxes", id, "1", "notes", "tree", "a.txt"), "utf8");
  return {
    store,
    service,
    id,
    stamps,
    execute,
    written,
    [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
  };
}

test("an added tool runs in the one pipeline, and its changes are recorded", async () => {
  await using at = await world("local/stamp-file");
  await at.execute();
  expect(at.written()).toBe("version 1\n");
  const calls = await at.store.read((reader) => findInvocations(reader, at.id, 1));
  expect(calls).toMatchObject([{ tool: "local/stamp-file", end: { outcome: "ok" } }]);
});

test("the tools of an attempt are fixed at its first use", async () => {
  await using at = await world("local/STAMP_file");
  at.stamps.fails = true;
  await expect(at.execute()).rejects.toThrow("The stamp is dry.");
  at.stamps.fails = false;
  at.stamps.version = 2;
  await at.execute();
  expect(at.stamps.asked).toBe(1);
  expect(at.written()).toBe("version 1\n");
  const plan = await at.service.getPlan(at.id);
  const recorded = await at.store.read((reader) => recordedTools(reader, plan));
  expect(recorded).toMatchObject([{ name: "local/stamp-file", definition: { version: 1 } }]);
});

test("parameters that do not fit the schema, and tools that are not there, are told with a suggestion", async () => {
  await using unfit = await world("local/stamp-file", { path: "a.txt", color: "red" });
  await expect(unfit.execute()).rejects.toThrow(
    "The parameters of local/stamp-file do not fit: color: is not a parameter. It takes: path.",
  );
  await using unknown = await world("local/stamp-fil");
  await expect(unknown.execute()).rejects.toThrow('no tool "local/stamp-fil" (did you mean "local/stamp-file"?)');
  expect(await unknown.service.getPlan(unknown.id)).toMatchObject({ phase: "strategize", state: "queued" });
});
