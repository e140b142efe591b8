import { nextStep } from "../../domain/errors/next-step.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import type { Show } from "../terminal/show.ts";
import { writtenText } from "./written-text.ts";

export const show: Show<"schema"> = (output, { options, io }) => {
  const file = options["output"];
  if ("kinds" in output) {
    if (file !== undefined) {
      throw new UsageError("--output needs a kind of file.", {
        kept: "Nothing was written.",
        next: [nextStep("schema", { kind: "actor" })],
      });
    }
    const rows = output.kinds.map(({ kind, description, command }) => [kind, description, command]);
    return {
      view: [
        {
          kind: "table",
          title: "Kinds of files",
          columns: ["kind", "what it is", "read by"],
          rows,
          empty: "There are none.",
        },
      ],
      messages: [],
      next: [nextStep("schema", { kind: "actor" })],
    };
  }
  const { kind, schema } = output;
  const done = `${String(file)} is the schema of ${kind} files. In a file: # yaml-language-server: $schema=${String(file)}`;
  return writtenText(`${JSON.stringify(schema, undefined, 2)}\n`, { file, io, done });
};
