/**
 * A definition in an editor, until it is right or the user gives up. The errors of a text stand above the lines that
 * they are about, and are taken out again before it is read. A text that is not used stays in its file.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ABOUT_KINDS } from "../../catalog/schemas/file-kinds.ts";
import { definitionSchema } from "../../catalog/schemas/definition-schemas.ts";
import { AgentsError, UsageError, ValidationError, type ValidationIssue } from "../../domain/errors/errors.ts";
import { nameKey, parseQualifiedName } from "../../domain/names/qualified-name.ts";
import { DataDirectory } from "../../platform/data-directory.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import type { EditableKind, Opened } from "./editable-definitions.ts";

interface Edited {
  readonly replaced: boolean;
  readonly file: string | null;
}

const ERROR = "# error: ";

export async function editDefinition(
  app: App,
  { kind, opened }: { readonly kind: EditableKind; readonly opened: Opened },
  call: Call,
): Promise<Edited> {
  const directory = new DataDirectory(app.paths.dataDir).edits;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const schema = `${kind}.schema.json`;
  writeFileSync(join(directory, schema), JSON.stringify(definitionSchema(kind, ABOUT_KINDS[kind]), undefined, 2));
  const file = join(directory, `${kind}-${fileWord(opened.name)}-${process.pid}.yaml`);
  const first = withSchema(opened.text, schema);
  let shown = first;
  for (;;) {
    writeFileSync(file, shown, { mode: 0o600 });
    const reply = await call.ask({ kind: "edit", text: `Edit ${opened.name}`, file, shown: [] });
    const text = withoutErrors(readFileSync(file, "utf8"));
    if (reply.kind !== "yes") throw editorError(file, text === withoutErrors(first));
    if (text === withoutErrors(shown)) {
      if (shown !== first) return { replaced: false, file };
      rmSync(file);
      return { replaced: false, file: null };
    }
    writeFileSync(file, text);
    const problems = await replaced(text, { file, directory, kind, opened }, call);
    if (problems === "declined") return { replaced: false, file };
    if (problems.length === 0) {
      rmSync(file);
      return { replaced: true, file: null };
    }
    shown = withErrors(text, problems);
  }
}

interface Place {
  readonly file: string;
  readonly directory: string;
  readonly kind: EditableKind;
  readonly opened: Opened;
}

/** The problems of the text, none once it is stored. Another error ends the work, and says where the text is. */
async function replaced(
  text: string,
  { file, directory, kind, opened }: Place,
  call: Call,
): Promise<readonly ValidationIssue[] | "declined"> {
  const renamed = kind === "config" ? [] : renamedIssues(text, opened.name);
  if (renamed.length > 0) return renamed;
  // Without the line that names the schema: it is about this file, and of no use in the configuration.
  const stored = kind === "config" ? text.replace(/^# yaml-language-server: [^\n]*\n/, "") : text;
  try {
    return (await opened.replace({ text: stored, file, outside: false, directory }, call)) ? [] : "declined";
  } catch (error) {
    if (error instanceof ValidationError) {
      const shift = stored === text ? 0 : 1;
      return error.issues.map((one) => (one.line === undefined ? one : { ...one, line: one.line + shift }));
    }
    if (error instanceof AgentsError) throw keptError(error, file);
    throw error;
  }
}

/** Another name would leave the definition as it is and add a second one. */
function renamedIssues(text: string, name: string): ValidationIssue[] {
  const lines = text.split("\n");
  const index = lines.findIndex((line) => line.startsWith("name:"));
  const given = lines[index]?.replace(/^name:\s*|\s+#.*$|["']/g, "").trim() ?? "";
  if (given === "" || sameName(given, name)) return [];
  return [{ path: "name", message: `must stay ${name}; a new file adds another one`, line: index + 1 }];
}

function sameName(given: string, name: string): boolean {
  try {
    return nameKey(parseQualifiedName(given)) === nameKey(parseQualifiedName(name));
  } catch {
    // The parser of the definition says what is wrong with it.
    return true;
  }
}

function withSchema(text: string, schema: string): string {
  return `# yaml-language-server: $schema=./${schema}\n${text}`;
}

/** Each above the line that it is about, as far in as that; those without a line at the top. */
function withErrors(text: string, issues: readonly ValidationIssue[]): string {
  const lines = text.split("\n");
  const byLine = Map.groupBy(issues, ({ line = 1 }) => Math.min(line, lines.length));
  return lines
    .flatMap((line, index) => {
      const indent = /^\s*/.exec(line)?.[0] ?? "";
      return [...(byLine.get(index + 1) ?? []).map((issue) => `${indent}${ERROR}${issueText(issue)}`), line];
    })
    .join("\n");
}

function issueText({ path, message, suggestion }: ValidationIssue): string {
  const meant = suggestion === undefined ? "" : ` (did you mean "${suggestion}"?)`;
  return `${path === "" ? "" : `${path}: `}${message.replaceAll("\n", " ")}${meant}`;
}

function withoutErrors(text: string): string {
  return text
    .split("\n")
    .filter((line) => !line.trimStart().startsWith(ERROR))
    .join("\n");
}

function fileWord(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, "-");
}

function editorError(file: string, unchanged: boolean): UsageError {
  if (unchanged) rmSync(file);
  return new UsageError("The editor could not be started, or ended with an error.", {
    kept: unchanged ? "Nothing was changed." : `Nothing was changed; your text is in ${file}.`,
    next: [{ text: "set VISUAL or EDITOR to your editor" }],
  });
}

/** The same error, with the file that has the user's text. */
function keptError(error: AgentsError, file: string): AgentsError {
  return new AgentsError(error.code, error.message, {
    kept: `Nothing was changed; your text is in ${file}.`,
    next: error.next,
    detail: { ...error.detail, file },
    cause: error,
  });
}
