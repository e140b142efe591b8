import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { editDefinition } from "../procedures/edit-definition.ts";
import { EDITABLE, EDITABLE_KINDS } from "../procedures/editable-definitions.ts";
import { fileKind } from "../procedures/file-kind.ts";

const Kind = z.enum(EDITABLE_KINDS);

/** A stored definition in the user's editor; without a name, which there are. */
export const operation = defineOperation({
  input: z.strictObject({ kind: z.string(), name: z.string().optional() }),
  output: z.union([
    z.strictObject({ kind: Kind, names: z.array(z.string()).readonly() }),
    z.strictObject({
      kind: Kind,
      name: z.string(),
      replaced: z.boolean(),
      /** The file that has the user's text, where it was not used. */
      file: z.string().nullable(),
    }),
  ]),
  run: async (app, { kind: named, name }, call) => {
    const kind = fileKind(named, EDITABLE_KINDS);
    const { names, open, command } = EDITABLE[kind];
    if (name === undefined && kind !== "config") return { kind, names: await names(app) };
    const opened = await open(app, name ?? "");
    if (call.answers !== "person") {
      throw new UsageError("There is no terminal on which an editor could be opened.", {
        kept: "Nothing was changed.",
        next: [{ text: command }, nextStep("schema", { kind })],
      });
    }
    return { kind, name: opened.name, ...(await editDefinition(app, { kind, opened }, call)) };
  },
});
