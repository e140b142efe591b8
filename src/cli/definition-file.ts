import { readFileSync } from "node:fs";
import { UsageError } from "../domain/errors.ts";
import type { Input } from "./command-spec.ts";

/** The file a definition is read from, as `--config` names it; "-" is standard input. */
export function readDefinition(
  input: Input,
  what: { question: string; command: string },
): { text: string; file: string } {
  const file = input.text("config");
  if (file === undefined) {
    throw new UsageError(`${what.question} Name its YAML file.`, { next: [`${what.command} --config <file>`] });
  }
  try {
    return { text: readFileSync(file === "-" ? 0 : file, "utf8"), file: file === "-" ? "standard input" : file };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The file ${file} cannot be read: ${why}.`, { kept: "Nothing was written." });
  }
}
