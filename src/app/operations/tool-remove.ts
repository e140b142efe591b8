import * as z from "zod";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({ tool: z.string() }),
  output: z.discriminatedUnion("removed", [
    z.strictObject({ removed: z.literal(true), tool: z.string() }),
    z.strictObject({ removed: z.literal(false) }),
  ]),
  run: async (app, { tool }, call) => {
    const tools = await app.tools();
    const { name } = (await tools.getTool(tool)).definition;
    if (!(await confirmed(call, `Remove the tool ${name}?`))) return { removed: false as const };
    await tools.removeTool(name);
    return { removed: true as const, tool: name };
  },
});
