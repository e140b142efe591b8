import { existsSync, statSync } from "node:fs";
import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { VERSION } from "../base/package-version.ts";
import { dayCost, DayCost } from "../queries/spending.ts";

const Counts = z.strictObject({ actions: z.int(), projects: z.int(), plans: z.int() });

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
    database: z.strictObject({ path: z.string(), exists: z.boolean(), sizeBytes: z.int() }),
    user: z.string(),
    format: z.string().nullable(),
    counts: Counts.nullable(),
    costToday: DayCost.nullable(),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app) => {
    const { dataDir, config, database } = app.paths;
    const exists = existsSync(database);
    return {
      version: VERSION,
      node: process.versions.node,
      sqlite: process.versions["sqlite"] ?? null,
      platform: `${process.platform} ${process.arch}`,
      dataDir,
      config,
      configExists: existsSync(config),
      database: { path: database, exists, sizeBytes: exists ? statSync(database).size : 0 },
      user: await app.user(),
      format: (await app.setting("core.format")).value ?? null,
      counts: exists ? await entityCounts(app) : null,
      costToday: exists ? await dayCost(app) : null,
      ...(exists ? {} : { nextSteps: [nextStep("init")] }),
    };
  },
});

async function entityCounts(app: App): Promise<z.output<typeof Counts>> {
  const plans = await app.plans();
  const { counts } = await plans.listPlans({ limit: 1 });
  return {
    actions: (await plans.listActions()).length,
    projects: (await (await app.projects()).listProjects()).length,
    plans: [...counts.values()].reduce((sum, one) => sum + one, 0),
  };
}
