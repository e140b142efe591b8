import { existsSync } from "node:fs";
import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import { createConfig } from "../../platform/settings/config-file.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { commandsHere, ConfinementFacts } from "../procedures/confinement-here.ts";

const KEYS = ["data_dir", "config", "database"] as const;

/** Creates what is missing and never touches what is there. */
export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({
    dataDir: z.string(),
    config: z.string(),
    database: z.string(),
    created: z.array(z.enum(KEYS)),
    existing: z.array(z.enum(KEYS)),
    confinement: ConfinementFacts,
    confinementNotice: z.strictObject({ level: z.enum(["info", "warning"]), text: z.string() }),
    nextSteps: NextSteps,
  }),
  run: async (app) => {
    const { dataDir, config } = app.paths;
    const paths = { data_dir: dataDir, config, database: app.paths.database };
    const isShared = (await app.sharedStore()) !== undefined;
    const existing = KEYS.filter((key) => existsSync(paths[key]) || (key === "database" && isShared));
    const { place: database } = await app.store();
    createConfig(config);
    const { facts, notice, next } = await commandsHere();
    return {
      dataDir,
      config,
      database,
      created: KEYS.filter((key) => !existing.includes(key)),
      existing,
      confinement: facts,
      confinementNotice: { level: notice.level, text: notice.text },
      nextSteps: [
        ...(next === undefined ? [] : [{ text: next }]),
        nextStep("run", { request: "<what you want done>" }),
        nextStep("action.create", { definition: { file: "<file>" } }),
        nextStep("project.create", { project: "<name>" }),
      ],
    };
  },
});
