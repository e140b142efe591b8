/** A text that is printed as it is, or written to a file that the user names. */
import { writeFileSync } from "node:fs";
import { UsageError } from "../../domain/errors/errors.ts";
import type { Io } from "../terminal/io.ts";
import { info } from "../terminal/outcome.ts";
import type { Picture } from "../terminal/show.ts";

export function writtenText(text: string, { file, io, done }: { file: unknown; io: Io; done: string }): Picture {
  if (typeof file !== "string") return { view: [], messages: [], text };
  try {
    writeFileSync(io.path(file), text);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
      kept: "Nothing was written.",
    });
  }
  return { view: [], messages: info(done) };
}
