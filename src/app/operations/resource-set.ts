import * as z from "zod";
import { DataDirectory } from "../../platform/data-directory.ts";
import { relocateResource } from "../../runs/move-resource.ts";
import { defineOperation } from "../base/operation.ts";
import { ResourceFacts, resourceFacts } from "../queries/resource-facts.ts";

/** Tells a resource that was moved on the disk where it is now. */
export const operation = defineOperation({
  input: z.strictObject({ resource: z.string(), path: z.string() }),
  output: z.strictObject({ resource: ResourceFacts, previousPath: z.string() }),
  run: async (app, { resource, path }) => {
    const parts = { store: await app.store(), user: await app.user() };
    const { locks } = new DataDirectory(app.paths.dataDir);
    const previousPath = await relocateResource(parts, locks, { resource, path });
    return { resource: resourceFacts(await (await app.resources()).getResource(resource)), previousPath };
  },
});
