/** The loader of tool files. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { readYaml } from "../domain/definition/yaml-file.ts";
import { ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import { parseOwnTool, type OwnToolDefinition } from "../domain/tool/own-tool.ts";
import type { RecordedProgram } from "../execution/tools/own/own-tool-call.ts";
import { schemaProblems } from "../execution/tools/parameter-schema.ts";

/** A tool as it is stored: a module with the text that was accepted. */
export interface StoredTool extends Omit<OwnToolDefinition, "runs"> {
  readonly runs: RecordedProgram;
}

export interface ToolFile {
  readonly tool: StoredTool;
  /** Of everything that will run: the file, and the module that it names. Accepted once, it need not be asked for. */
  readonly hash: string;
}

const LARGEST_MODULE = 512 * 1024;

/** `directory` is where the file lies; a module is named from there. */
export function readToolFile(text: string, file: string, directory: string | undefined): ToolFile {
  return readYaml(text, file, "a tool", (value) => {
    const definition = parseOwnTool(value);
    const issues = schemaProblems(definition.parameters).map((issue) => ({
      ...issue,
      path: issue.path === "" ? "parameters" : `parameters.${issue.path}`,
    }));
    if (issues.length > 0) throw notValidError(issues);
    const runs = recorded(definition, directory);
    return { tool: { ...definition, runs }, hash: contentHash(text, runs) };
  });
}

function recorded({ runs }: OwnToolDefinition, directory: string | undefined): RecordedProgram {
  if (runs.kind !== "module") return runs;
  if (directory === undefined && !isAbsolute(runs.path))
    throw notValidError([{ path: "module", message: "must be an absolute path, because the file has no directory" }]);
  const path = isAbsolute(runs.path) ? runs.path : join(directory ?? "", runs.path);
  try {
    const text = readFileSync(path, "utf8");
    if (text.length > LARGEST_MODULE) throw new Error("it is larger than 512 KiB");
    return { kind: "module", path, text };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw notValidError([{ path: "module", message: `cannot be read: ${why}` }]);
  }
}

/** The hash of a file alone is what other definitions are accepted by. */
function contentHash(text: string, runs: RecordedProgram): string {
  const hash = createHash("sha256").update(text);
  return (runs.kind === "module" ? hash.update("\0").update(runs.text) : hash).digest("hex");
}

function notValidError(issues: readonly ValidationIssue[]): ValidationError {
  const list = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return new ValidationError(`The tool is not valid: ${list}.`, issues);
}
