import { isMap, isNode, isScalar, LineCounter, parseDocument, type Document } from "yaml";
import { ValidationError, type ValidationIssue } from "../errors/errors.ts";

/** The one way a definition is read from YAML: every problem gets its file, line and column here. */
const SIZE_LIMIT = 1024 * 1024;

/**
 * Parses the text and hands the plain value to `read`, whose validation issues must name their places by the keys of
 * the file. `kind` is what the file should hold, with its article: "an action".
 */
export function readYaml<T>(text: string, file: string, kind: string, read: (value: unknown) => T): T {
  const refusedError = (issues: readonly ValidationIssue[]): ValidationError => definitionError(file, kind, issues);
  if (text.length > SIZE_LIMIT) throw refusedError([{ path: "", message: "the file is larger than 1 MiB", file }]);
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
    throw refusedError(issues);
  }
  if (!isMap(document.contents)) {
    throw refusedError([{ path: "", message: `${kind} is a set of key: value lines`, file, line: 1, column: 1 }]);
  }
  let value: unknown;
  try {
    // Expands the document; `yaml` refuses alias bombs here.
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw refusedError([{ path: "", message: error instanceof Error ? error.message : String(error), file }]);
  }
  try {
    return read(value);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const found = error.issues.map((issue) => {
      const { line, col } = lines.linePos(offset(document, keysOf(issue.path, value)));
      return { ...issue, file, line, column: col };
    });
    throw refusedError(found.sort((a, b) => a.line - b.line || a.column - b.column));
  }
}

/** The keys on the way to the place. A key of a file may have dots in it, as in `core.format`. */
function keysOf(path: string, value: unknown): string[] {
  if (path === "") return [];
  if (typeof value !== "object" || value === null) return path.split(".");
  const fitting = Object.entries(value).filter(([key]) => path === key || path.startsWith(`${key}.`));
  const [longest] = fitting.sort(([one], [other]) => other.length - one.length);
  if (longest === undefined) return path.split(".");
  const [key, inner] = longest;
  return [key, ...keysOf(path.slice(key.length + 1), inner)];
}

/** Where the problem is: its own line, or that of the nearest thing around it that exists in the file. */
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

function definitionError(file: string, kind: string, issues: readonly ValidationIssue[]): ValidationError {
  const [, noun = kind] = kind.split(" ");
  return new ValidationError(
    `${file} is not a valid ${noun} (${issues.length} ${issues.length === 1 ? "problem" : "problems"}).`,
    issues,
    { detail: { file } },
  );
}
