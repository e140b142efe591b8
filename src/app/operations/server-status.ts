import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { Instant, instant, NextSteps } from "../base/schemas.ts";
import { runningServer } from "../procedures/server-file.ts";

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.discriminatedUnion("running", [
    z.strictObject({ running: z.literal(false), nextSteps: NextSteps }),
    z.strictObject({ running: z.literal(true), pid: z.int(), url: z.string(), startedAt: Instant }),
  ]),
  run: async (app) => {
    const place = await runningServer(app.paths.dataDir);
    if (place === undefined) return { running: false as const, nextSteps: [nextStep("server.start")] };
    const { pid, url, startedAt } = place;
    return { running: true as const, pid, url, startedAt: instant(startedAt) };
  },
});
