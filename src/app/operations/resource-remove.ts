import * as z from "zod";
import { removeResourceIndex } from "../../context/front/resource-index.ts";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({ resource: z.string() }),
  output: z.discriminatedUnion("removed", [
    z.strictObject({ removed: z.literal(true), resource: z.string() }),
    z.strictObject({ removed: z.literal(false) }),
  ]),
  run: async (app, { resource }, call) => {
    const resources = await app.resources();
    const { name, path } = await resources.getResource(resource);
    if (!(await confirmed(call, `Remove the resource ${name} (its files stay)?`))) return { removed: false as const };
    await resources.removeResource(name);
    const others = (await resources.listResources()).map((other) => other.path);
    await removeResourceIndex(app.paths.dataDir, path, others);
    return { removed: true as const, resource: name };
  },
});
