import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { VERSION } from "../base/package-version.ts";

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({ version: z.string(), node: z.string(), sqlite: z.string().nullable() }),
  run: () =>
    Promise.resolve({
      version: VERSION,
      node: process.versions.node,
      sqlite: process.versions["sqlite"] ?? null,
    }),
});
