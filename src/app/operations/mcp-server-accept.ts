/** The answer to the question whether the MCP servers of a repository may be used, given beforehand. */
import { realpathSync } from "node:fs";
import * as z from "zod";
import { NotFoundError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { wantTexts } from "../../domain/actor/actor-wants.ts";
import { defineOperation } from "../base/operation.ts";
import { decide, keepAnswer, repositoryFile, wantsOf } from "../procedures/repository-servers.ts";

export const operation = defineOperation({
  input: z.strictObject({
    directory: z.string().optional(),
    here: z.string(),
    refuse: z.boolean().default(false),
  }),
  output: z.strictObject({
    file: z.string(),
    accepted: z.boolean(),
    servers: z.array(z.string()),
    wants: z.array(z.string()),
  }),
  run: async (app, { directory, here, refuse }, call) => {
    const place = realpathSync(directory ?? here);
    const file = repositoryFile(place);
    if (file === undefined)
      throw new NotFoundError("file with MCP servers", `${place}/.mcp.json`, { next: [nextStep("mcp.server.list")] });
    // The data directory holds the answer, and may not be there yet.
    await app.store();
    if (refuse) await keepAnswer(app, file, false);
    const accepted = !refuse && (await decide(app, file, call));
    return {
      file: file.path,
      accepted,
      servers: file.servers.map(({ definition }) => definition.name),
      wants: wantTexts(wantsOf(file)),
    };
  },
});
