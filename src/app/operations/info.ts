import { existsSync, statSync } from "node:fs";
import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { VERSION } from "../base/package-version.ts";
import { dayCost, DayCost } from "../queries/spending.ts";

const Counts = z.strictObject({ actions: z.int(), projects: z.int(), plans: z.int() });

const Database = z.strictObject({
  kind: z.enum(["sqlite", "postgresql"]),
  /** A file, or an address without its password. */
  path: z.string(),
  exists: z.boolean(),
  /** Of a file. */
  sizeBytes: z.int().nullable(),
});

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({
    version: z.string(),
    node: z.string(),
    sqlite: z.string().nullable(),
    platform: z.string(),
    dataDir: z.string(),
    config: z.string(),
    configExists: z.boolean(),
    database: Database,
    user: z.string(),
    format: z.string().nullable(),
    counts: Counts.nullable(),
    costToday: DayCost.nullable(),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app) => {
    const { dataDir, config } = app.paths;
    const exists = await app.hasStore();
    return {
      version: VERSION,
      node: process.versions.node,
      sqlite: process.versions["sqlite"] ?? null,
      platform: `${process.platform} ${process.arch}`,
      dataDir,
      config,
      configExists: existsSync(config),
      database: await databaseFacts(app, exists),
      user: await app.user(),
      format: (await app.setting("core.format")).value ?? null,
      counts: exists ? await entityCounts(app) : null,
      costToday: exists ? await dayCost(app) : null,
      ...(exists ? {} : { nextSteps: [nextStep("init")] }),
    };
  },
});

async function databaseFacts(app: App, exists: boolean): Promise<z.output<typeof Database>> {
  const { database } = app.paths;
  if ((await app.sharedStore()) === undefined)
    return { kind: "sqlite", path: database, exists, sizeBytes: exists ? statSync(database).size : 0 };
  return { kind: "postgresql", path: (await app.store()).place, exists, sizeBytes: null };
}

async function entityCounts(app: App): Promise<z.output<typeof Counts>> {
  const plans = await app.plans();
  const { counts } = await plans.listPlans({ limit: 1 });
  return {
    actions: (await plans.listActions()).length,
    projects: (await (await app.projects()).listProjects()).length,
    plans: [...counts.values()].reduce((sum, one) => sum + one, 0),
  };
}
