import { isMap, isNode, isScalar, LineCounter, parseDocument, type Document } from "yaml";
import { parseAction, type ActionInput } from "../domain/action.ts";
import { ValidationError, type ValidationIssue } from "../domain/errors.ts";

/**
 * The loader of action files. YAML keys are snake_case, the schema's camelCase: this is the one place where they are turned
 * into each other, and where a problem gets its file, line and column.
 */
const SIZE_LIMIT = 1024 * 1024;

export function parseActionFile(text: string, file: string): ActionInput {
  if (text.length > SIZE_LIMIT) throw refused(file, [{ path: "", message: "the file is larger than 1 MiB", file }]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, stringKeys: true });
  if (document.errors.length > 0) {
    const issues = document.errors.map((error) => {
      const { line, col } = lines.linePos(error.pos[0]);
      return {
        path: "",
        message: error.message.split("\n")[0]?.replace(/ at line.*$/, "") ?? "",
        file,
        line,
        column: col,
      };
    });
    throw refused(file, issues);
  }
  if (!isMap(document.contents)) {
    throw refused(file, [{ path: "", message: "an action is a set of key: value lines", file, line: 1, column: 1 }]);
  }
  const { input, issues } = camelCased(toPlain(document, file));
  try {
    parseAction(input);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    issues.push(...error.issues.map((issue) => ({ ...issue, path: snake(issue.path), ...snakeSuggestion(issue) })));
  }
  if (issues.length > 0) {
    const found = issues.map((issue) => located(issue, document, lines, file));
    throw refused(
      file,
      found.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)),
    );
  }
  return input as ActionInput;
}

/** Expands the document; `yaml` refuses alias bombs here. */
function toPlain(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw refused(file, [{ path: "", message: error instanceof Error ? error.message : String(error), file }]);
  }
}

interface Renamed {
  readonly input: unknown;
  readonly issues: ValidationIssue[];
}

/** Renames the keys of the two levels that have any. A key that is not snake_case is unknown, even if its camelCase is not. */
function camelCased(value: unknown): Renamed {
  const issues: ValidationIssue[] = [];
  const rename = (record: Record<string, unknown>, parent: string): Record<string, unknown> => {
    const renamed: Record<string, unknown> = {};
    for (const [key, one] of Object.entries(record)) {
      if (/^[a-z][a-z_]*$/.test(key)) renamed[camel(key)] = one;
      else
        issues.push({
          path: parent + key,
          message: "unknown key",
          ...(isSnake(key) ? {} : { suggestion: snake(key) }),
        });
    }
    return renamed;
  };
  if (!isRecord(value)) return { input: value, issues };
  const input = rename(value, "");
  if (Array.isArray(input["arguments"])) {
    input["arguments"] = input["arguments"].map((item: unknown, index) =>
      isRecord(item) ? rename(item, `arguments.${index}.`) : item,
    );
  }
  return { input, issues };
}

function camel(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function snake(text: string): string {
  return text.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isSnake(text: string): boolean {
  return snake(text) === text;
}

function snakeSuggestion({ suggestion }: ValidationIssue): { suggestion?: string } {
  return suggestion === undefined ? {} : { suggestion: snake(suggestion) };
}

/** Where the problem is: its own line, or that of the nearest thing around it that exists in the file. */
function located(issue: ValidationIssue, document: Document, lines: LineCounter, file: string): ValidationIssue {
  const segments = issue.path === "" ? [] : issue.path.split(".");
  const { line, col } = lines.linePos(offset(document, segments));
  return { ...issue, file, line, column: col };
}

function offset(document: Document, segments: readonly string[]): number {
  for (let depth = segments.length; depth > 0; depth -= 1) {
    const parent = depth === 1 ? document.contents : document.getIn(segments.slice(0, depth - 1), true);
    const last = segments[depth - 1];
    if (isMap(parent)) {
      const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === last);
      if (isNode(pair?.key) && pair.key.range != null) return pair.key.range[0];
    }
    const node = document.getIn(segments.slice(0, depth), true);
    if (isNode(node) && node.range != null) return node.range[0];
  }
  return 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refused(file: string, issues: readonly ValidationIssue[]): ValidationError {
  return new ValidationError(
    `${file} is not a valid action (${issues.length} ${issues.length === 1 ? "problem" : "problems"}).`,
    issues,
    {
      detail: { file },
    },
  );
}
