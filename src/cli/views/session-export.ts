import { writeFileSync } from "node:fs";
import { UsageError } from "../../domain/errors/errors.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"session.export"> = ({ text, sessionId, as }, { options, io }) => {
  const file = options["output"];
  if (typeof file !== "string") return { view: [], messages: [], text };
  try {
    writeFileSync(io.path(file), text);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
      kept: "Nothing was written.",
    });
  }
  return { view: [], messages: info(`Session ${sessionId} is in ${file}, as ${as === "json" ? "JSON" : "Markdown"}.`) };
};
