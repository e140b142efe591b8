import * as z from "zod";
import { TOOL_NAMES } from "../../domain/names/tool-names.ts";
import { defineOperation } from "../base/operation.ts";
import { broughtToolDetails, ownToolDetails, ToolFacts, toolsBrought } from "../queries/tool-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ directory: z.string(), namespace: z.string().optional() }),
  output: z.strictObject({
    tools: z.array(ToolFacts),
    filters: z.strictObject({ namespace: z.string().nullable() }),
    summary: z.strictObject({ total: z.int(), notAccepted: z.int(), builtIn: z.int() }),
  }),
  run: async (app, { directory, namespace }) => {
    const own = (await (await app.tools()).listTools(namespace)).map(({ definition }) => ownToolDetails(definition));
    const inNamespace = ({ name }: { readonly name: string }): boolean =>
      namespace === undefined || name.toLowerCase().startsWith(`${namespace.toLowerCase()}/`);
    const tools = [...own, ...toolsBrought(app, directory).map(broughtToolDetails).filter(inNamespace)];
    const notAccepted = tools.filter(({ state }) => state === "not accepted").length;
    return {
      tools,
      filters: { namespace: namespace ?? null },
      summary: { total: tools.length, notAccepted, builtIn: TOOL_NAMES.length },
    };
  },
});
