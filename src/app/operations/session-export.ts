import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { SessionReference } from "../base/schemas.ts";
import { sessionExport, exportText } from "../queries/session-export.ts";
import { sessionNamed } from "../queries/session-facts.ts";

const FORMS = ["markdown", "json"] as const;

export const operation = defineOperation({
  input: z.strictObject({
    session: SessionReference,
    directory: z.string(),
    as: z.enum(FORMS).default("markdown"),
  }),
  output: z.strictObject({
    sessionId: z.string(),
    as: z.enum(FORMS),
    /** Of everything in the JSON form but itself. */
    checksum: z.string(),
    /** The whole file. */
    text: z.string(),
  }),
  run: async (app, { session: given, directory, as }) => {
    const session = await sessionNamed(app, given, directory);
    const exported = await sessionExport(app, session);
    return { sessionId: session.id, as, ...exportText(exported, as) };
  },
});
