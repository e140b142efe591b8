/** Stand-in until the languages are there. */
import type { DetailLevel } from "./detail-level.ts";
import type { Definition, FileFacts, Language, Reference } from "./facts.ts";

export interface Analyzer {
  load(languages: readonly Language[]): Promise<void>;
  analyze(language: Language, text: string): FileFacts;
}

export async function createAnalyzer(): Promise<Analyzer> {
  return { load: async () => undefined, analyze };
}

export function languageOf(path: string, _firstLine?: string): Language | undefined {
  if (/\.(?:png|jpg)$/.test(path)) return undefined;
  return /\.[mc]?[jt]s$/.test(path) ? "typescript" : path.endsWith(".md") ? "markdown" : "text";
}

export function renderFile(_facts: FileFacts, text: string, _level: DetailLevel) {
  return { text, startLine: 1, endLine: text.split("\n").length };
}

export function renderDefinition(facts: FileFacts, ordinal: number, text: string, _level: DetailLevel) {
  const { startLine = 1, endLine = 1 } = facts.definitions[ordinal] ?? {};
  return {
    text: text
      .split("\n")
      .slice(startLine - 1, endLine)
      .join("\n"),
    startLine,
    endLine,
  };
}

function analyze(language: Language, text: string): FileFacts {
  const definitions: Definition[] = [];
  const references = new Map<string, Reference>();
  const imports: { specifier: string; line: number }[] = [];
  if (language === "text") return { language, definitions, references: [], imports, incomplete: undefined };
  let offset = 0;
  for (const [at, line] of text.split("\n").entries()) {
    const found = /^(export )?.*?\b(?<kind>class|function|interface|const) (?<name>[\w$]+)/.exec(line);
    if (found !== null) {
      const kind = found.groups?.["kind"] === "const" ? "variable" : (found.groups?.["kind"] as "class");
      const [start, end] = [offset, offset + line.length];
      definitions.push({
        name: found.groups?.["name"] ?? "",
        kind,
        container: undefined,
        exported: found[1] !== undefined,
        startLine: at + 1,
        endLine: at + 1,
        signature: { start, end },
        doc: undefined,
      });
    }
    const specifier = /from "([^"]+)"/.exec(line)?.[1];
    if (specifier !== undefined) imports.push({ specifier, line: at + 1 });
    for (const [name] of line.matchAll(/[A-Za-z_$][\w$]+/g)) {
      if (name === found?.groups?.["name"]) continue;
      const known = references.get(name);
      references.set(name, { name, within: undefined, count: (known?.count ?? 0) + 1, line: known?.line ?? at + 1 });
    }
    offset += line.length + 1;
  }
  return { language, definitions, references: [...references.values()], imports, incomplete: undefined };
}
