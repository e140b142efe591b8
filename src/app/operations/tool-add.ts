import * as z from "zod";
import { readToolFile } from "../../catalog/tool-file.ts";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { acceptDefinition } from "../procedures/accept-definition.ts";
import { toolWants } from "../procedures/accept-repository.ts";
import { ownToolDetails, ToolFacts } from "../queries/tool-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ definition: Document, replace: z.boolean().default(false) }),
  output: z.union([z.strictObject({ tool: ToolFacts }), z.strictObject({ added: z.literal(false) })]),
  run: async (app, { definition: source, replace }, call) => {
    const { text, file, outside, directory } = source;
    const { tool, hash } = readToolFile(text, file, directory);
    const wants = toolWants([tool]);
    const accepted = await acceptDefinition(app, { text, hash, file, outside, wants, allowEnv: [] }, call);
    if (!accepted) return { added: false as const };
    const { definition } = await (await app.tools()).addTool(tool, { replace });
    return { tool: ownToolDetails(definition) };
  },
});
