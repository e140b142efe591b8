import * as z from "zod";
import { parametersOf } from "../../actors/loop/strategy-form.ts";
import { BUILT_IN_TOOLS, toolKey } from "../../execution/tools/tool-set.ts";
import { defineOperation } from "../base/operation.ts";
import {
  broughtToolDetails,
  ownToolDetails,
  ToolFacts,
  toolsBrought,
  type ToolFactsOutput,
} from "../queries/tool-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ directory: z.string(), tool: z.string() }),
  output: z.strictObject({ tool: ToolFacts }),
  run: async (app, { directory, tool: name }) => {
    const builtIn = builtInDetails(name);
    if (builtIn !== undefined) return { tool: builtIn };
    const tools = await app.tools();
    const key = toolKey(name.includes("/") ? name : `local/${name}`);
    const own = (await tools.listTools()).find(({ definition }) => toolKey(definition.name) === key);
    if (own !== undefined) return { tool: ownToolDetails(own.definition) };
    const brought = toolsBrought(app, directory).find((one) => "tool" in one && toolKey(one.tool.name) === key);
    if (brought !== undefined) return { tool: broughtToolDetails(brought) };
    return { tool: ownToolDetails((await tools.getTool(name)).definition) };
  },
});

function builtInDetails(name: string): ToolFactsOutput | undefined {
  const found = BUILT_IN_TOOLS.get(toolKey(name));
  if (found === undefined) return undefined;
  const { description, writes, parameters } = found;
  const none = { runs: null, kind: null, timeoutMs: null, output: null, cwd: null, env: {}, file: null, problem: null };
  const about = { name: found.name, description, from: "built-in", writes, state: "ready" } as const;
  return { ...about, ...none, parameters: parametersOf(parameters) };
}
