import * as z from "zod";
import { ABOUT_KINDS, FILE_KINDS } from "../../catalog/schemas/file-kinds.ts";
import { defineOperation } from "../base/operation.ts";
import { Json } from "../base/schemas.ts";
import { fileKind } from "../procedures/file-kind.ts";

/** The JSON Schema of one kind of file; without a kind, which there are. */
export const operation = defineOperation({
  input: z.strictObject({ kind: z.string().optional() }),
  output: z.union([
    z.strictObject({
      kinds: z.array(z.strictObject({ kind: z.enum(FILE_KINDS), description: z.string(), command: z.string() })),
    }),
    z.strictObject({ kind: z.enum(FILE_KINDS), schema: Json }),
  ]),
  run: async (_app, { kind: named }) => {
    if (named === undefined) {
      const kinds = FILE_KINDS.map((kind) => {
        const { description, command } = ABOUT_KINDS[kind];
        return { kind, description, command };
      });
      return { kinds };
    }
    const kind = fileKind(named, FILE_KINDS);
    const { definitionSchema } = await import("../../catalog/schemas/definition-schemas.ts");
    return { kind, schema: definitionSchema(kind, ABOUT_KINDS[kind]) };
  },
});
