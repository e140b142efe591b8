import { existsSync } from "node:fs";
import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import { createConfig } from "../../platform/settings/config-file.ts";
import { defineOperation } from "../base/operation.ts";
import { Document, NextSteps } from "../base/schemas.ts";
import { setUp, SetUp } from "../procedures/set-up.ts";
import { commandsHere, ConfinementFacts } from "../procedures/confinement-here.ts";

const KEYS = ["data_dir", "config", "database"] as const;

/** Creates what is missing and never touches what is there; then sets up a model, where someone can answer. */
export const operation = defineOperation({
  input: z.strictObject({
    model: z.string().optional(),
    keyFrom: z.string().optional(),
    key: Document.optional(),
    budgetPerRun: z.string().optional(),
    test: z.boolean().default(true),
    defaults: z.boolean().default(false),
  }),
  output: z.strictObject({
    dataDir: z.string(),
    config: z.string(),
    database: z.string(),
    created: z.array(z.enum(KEYS)),
    existing: z.array(z.enum(KEYS)),
    confinement: ConfinementFacts,
    confinementNotice: z.strictObject({ level: z.enum(["info", "warning"]), text: z.string() }),
    /** Null where no one could be asked and nothing was said. */
    setUp: SetUp.nullable(),
    nextSteps: NextSteps,
  }),
  run: async (app, wishes, call) => {
    const { dataDir, config } = app.paths;
    const paths = { data_dir: dataDir, config, database: app.paths.database };
    const isShared = (await app.sharedStore()) !== undefined;
    const existing = KEYS.filter((key) => existsSync(paths[key]) || (key === "database" && isShared));
    const { place: database } = await app.store();
    createConfig(config);
    const made = await setUp(app, wishes, call, async (actor, maxOutputTokens) => {
      const { operation: asking } = await import("./actor-run.ts");
      const prompt = "Answer with the word OK and nothing else.";
      await asking.run(app, { actor, prompt, maxOutputTokens }, { ...call, tell: () => undefined });
    });
    const { facts, notice, next } = await commandsHere();
    return {
      dataDir,
      config,
      database,
      created: KEYS.filter((key) => !existing.includes(key)),
      existing,
      confinement: facts,
      confinementNotice: { level: notice.level, text: notice.text },
      setUp: made ?? null,
      nextSteps: [
        ...(next === undefined ? [] : [{ text: next }]),
        nextStep("run", { request: "<what you want done>" }),
        ...(made === undefined
          ? [
              nextStep("action.create", { definition: { file: "<file>" } }),
              nextStep("project.create", { project: "<name>" }),
            ]
          : []),
      ],
    };
  },
});
