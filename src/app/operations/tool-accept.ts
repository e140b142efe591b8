import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { acceptBrought, toolWants } from "../procedures/accept-repository.ts";
import { broughtToolDetails, ToolFacts, toolsBrought } from "../queries/tool-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ directory: z.string() }),
  output: z.strictObject({ tools: z.array(ToolFacts), accepted: z.boolean() }),
  run: async (app, { directory }, call) => {
    const open = toolsBrought(app, directory).flatMap((one) => ("tool" in one && !one.accepted ? [one] : []));
    const wants = toolWants(open.map(({ tool }) => tool));
    const hashes = open.map(({ hash }) => hash);
    const accepted = open.length > 0 && (await acceptBrought(app, { hashes, wants, what: ".agents/tools" }, call));
    return { accepted, tools: toolsBrought(app, directory).map(broughtToolDetails) };
  },
});
