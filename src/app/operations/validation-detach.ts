import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { AttachmentFacts, attachmentFacts } from "../queries/validation-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ attachment: z.string() }),
  output: z.strictObject({ detached: z.literal(true), attachment: AttachmentFacts }),
  run: async (app, { attachment }) => ({
    detached: true as const,
    attachment: attachmentFacts(await (await app.validations()).detach(attachment)),
  }),
});
