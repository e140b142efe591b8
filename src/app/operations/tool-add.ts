import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { addTool } from "../procedures/add-definition.ts";
import { ownToolDetails, ToolFacts } from "../queries/tool-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ definition: Document, replace: z.boolean().default(false) }),
  output: z.union([z.strictObject({ tool: ToolFacts }), z.strictObject({ added: z.literal(false) })]),
  run: async (app, { definition, replace }, call) => {
    const added = await addTool(app, definition, { replace }, call);
    return added === undefined ? { added: false as const } : { tool: ownToolDetails(added.definition) };
  },
});
