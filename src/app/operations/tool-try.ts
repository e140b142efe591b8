import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { requireProfile } from "../../store/tables/profiles.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import { ownTool, ownToolFacts } from "../../execution/tools/own/own-tool-call.ts";
import { findWorkTree, nameOfDirectory } from "../../git/work-tree.ts";
import type { StoredTool } from "../../catalog/tool-file.ts";
import { tryOwnTool } from "../../runs/tool-trial.ts";
import type { App } from "../base/app.ts";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { programText, toolsBrought } from "../queries/tool-facts.ts";
import { toolKey } from "../../execution/tools/tool-set.ts";

const Changed = z.strictObject({ path: z.string(), change: z.enum(["added", "deleted", "modified", "mode"]) });

export const operation = defineOperation({
  input: z.strictObject({
    directory: z.string(),
    tool: z.string(),
    arguments: z.record(z.string(), z.string()).default({}),
  }),
  output: z.union([
    z.strictObject({
      tool: z.string(),
      output: z.string(),
      /** Why the call failed although the tool ran; null when it did not. */
      failure: z.string().nullable(),
      changes: z.array(Changed),
      patch: z.string(),
    }),
    z.strictObject({ tried: z.literal(false) }),
  ]),
  run: async (app, { directory, tool: name, arguments: given }, call) => {
    const path = findWorkTree(directory);
    if (path === undefined)
      throw new UsageError("There is no git repository here to try the tool in.", { kept: "Nothing was run." });
    const tool = await toolNamed(app, name, directory);
    const outside = `Run ${programText(tool)} outside of the sandbox, with your rights?`;
    if (tool.runs.kind === "module" && !(await confirmed(call, outside))) return { tried: false as const };
    await app.commandPolicy();
    const { value = "supervised" } = await app.setting("core.automation-profile");
    const store = await app.store();
    const { network, requireConfinement } = await store.read((reader) => requireProfile(reader, value));
    const target = { alias: nameOfDirectory(path), strategy: "git_worktree", path, branch: undefined } as const;
    const { text, failure, diff } = await tryOwnTool(
      ownTool(ownToolFacts({ ...tool }, tool.runs)),
      typed(given, tool.parameters),
      {
        directory: app.paths.sandboxes,
        target: { ...target, readOnly: false, includeDirty: true },
        network,
        requireConfinement,
        signal: call.signal,
      },
    );
    const changes = diff.files.map((file) => ({ path: file.path, change: file.change }));
    return { tool: tool.name, output: text, failure: failure ?? null, changes, patch: diff.patch };
  },
});

/** One of the repository may be tried before it is accepted: it runs confined, and nothing of it stays. */
async function toolNamed(app: App, name: string, directory: string): Promise<StoredTool> {
  const tools = await app.tools();
  const key = toolKey(name.includes("/") ? name : `local/${name}`);
  const own = (await tools.listTools()).find(({ definition }) => toolKey(definition.name) === key);
  if (own !== undefined) return own.definition;
  for (const one of toolsBrought(app, directory)) if ("tool" in one && toolKey(one.tool.name) === key) return one.tool;
  return (await tools.getTool(name)).definition;
}

/** The texts of a command line as the schema wants them: a number, a list, true. */
function typed(given: Readonly<Record<string, string>>, { properties = {} }: JsonObject): JsonObject {
  const known = isJsonObject(properties) ? properties : {};
  return Object.fromEntries(Object.entries(given).map(([key, text]) => [key, valueOf(text, known[key])]));
}

function valueOf(text: string, schema: JsonValue | undefined): JsonValue {
  const type = schema !== undefined && isJsonObject(schema) ? schema["type"] : undefined;
  if (type === undefined || type === "string") return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The schema says what is wrong with the text itself.
    return text;
  }
}
