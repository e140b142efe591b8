import * as z from "zod";
import { refreshFacts } from "../../actors/models/facts-file.ts";
import { FactsCatalog } from "../../actors/models/model-facts.ts";
import { DataDirectory } from "../../platform/data-directory.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({
    source: z.string(),
    date: z.string(),
    providers: z.int(),
    models: z.int(),
    path: z.string(),
  }),
  run: async (app, _input, call) => {
    const { value: source = "" } = await app.setting("models.source");
    // Makes the data directory where it is missing.
    await app.store();
    const path = new DataDirectory(app.paths.dataDir).models;
    call.tell({ type: "progress", doing: `fetching ${source}` });
    const date = new Date().toISOString().slice(0, 10);
    const list = await refreshFacts(source, path, { date, signal: call.signal });
    const models = new FactsCatalog([list]).count;
    return { source, date, providers: Object.keys(list.providers).length, models, path };
  },
});
