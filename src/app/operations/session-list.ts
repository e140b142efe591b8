import { hostname } from "node:os";
import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import { parseQualifiedName } from "../../domain/names/qualified-name.ts";
import { countSessions, findSessionSummaries } from "../../store/tables/sessions.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { sessionDirectory, SessionFacts, sessionFacts } from "../queries/session-facts.ts";

const DEFAULT_LIMIT = 50;

export const operation = defineOperation({
  input: z.strictObject({
    /** Where the caller is: sessions of this repository come first. */
    directory: z.string(),
    here: z.boolean().default(false),
    project: z.string().optional(),
    limit: z.int().min(1).max(100_000).default(DEFAULT_LIMIT),
  }),
  output: z.strictObject({
    sessions: z.array(SessionFacts.extend({ here: z.boolean() })),
    summary: z.strictObject({ total: z.int(), shown: z.int() }),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app, { directory, here, project: named, limit }) => {
    const place = await sessionDirectory(directory);
    const project = named === undefined ? undefined : parseQualifiedName(named, "project");
    const filter = { directory: place, only: here, project, limit };
    return (await app.store()).read(async (reader) => {
      const facts = await sessionFacts(reader, await findSessionSummaries(reader, filter));
      const total = await countSessions(reader, filter);
      return {
        sessions: facts.map((one) => ({ ...one, here: one.directory === place && one.host === hostname() })),
        summary: { total, shown: facts.length },
        ...(total === 0 ? { nextSteps: [nextStep("run", { request: "<what you want done>" })] } : {}),
      };
    });
  },
});
