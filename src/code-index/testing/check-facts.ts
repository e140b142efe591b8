import type { Definition, FileFacts, Span } from "../model/facts.ts";

/** The problems of facts, for any text: none, if they are what they claim. */
export function problemsOf(facts: FileFacts, text: string): string[] {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  const lineStart = (line: number): number => starts[line - 1] ?? Number.NaN;
  const lineEnd = (line: number): number => starts[line] ?? text.length;
  const problems: string[] = [];
  const claim = (holds: boolean, what: string, about: unknown): void => {
    if (!holds) problems.push(`${what}: ${JSON.stringify(about)}`);
  };
  const lies = ({ start, end }: Span, { startLine, endLine }: Definition): boolean =>
    lineStart(startLine) <= start && start <= end && end <= lineEnd(endLine);

  for (const [ordinal, definition] of facts.definitions.entries()) {
    claim(definition.name !== "", "has a name", definition);
    claim(definition.startLine <= definition.endLine, "ends after its start", definition);
    claim(lies(definition.signature, definition), "has its signature inside", definition);
    claim(definition.doc === undefined || lies(definition.doc, definition), "has its doc inside", definition);
    if (definition.container === undefined) continue;
    const container = facts.definitions[definition.container];
    claim(definition.container < ordinal, "comes after its container", definition);
    claim(
      container !== undefined && nestsOrIsApart(container, definition),
      "nests in its container or is apart",
      definition,
    );
  }
  for (const [ordinal, definition] of facts.definitions.entries()) {
    const before = facts.definitions[ordinal - 1];
    claim(
      before === undefined || before.signature.start <= definition.signature.start,
      "is in the text's order",
      definition,
    );
  }
  const seen = new Set<string>();
  for (const reference of facts.references) {
    const { name, within, count, line } = reference;
    const place = within === undefined ? { startLine: 1, endLine: starts.length } : facts.definitions[within];
    claim(count > 0 && !seen.has(`${within} ${name}`), "is counted once", reference);
    seen.add(`${within} ${name}`);
    claim(
      place !== undefined && place.startLine <= line && line <= place.endLine,
      "is inside its definition",
      reference,
    );
    claim(
      text.slice(lineStart(line), lineEnd(line)).includes(name.split("\n")[0] ?? ""),
      "stands on its line",
      reference,
    );
  }
  for (const found of facts.imports)
    claim(found.line <= starts.length && found.specifier !== "", "is an import", found);
  return problems;
}

function nestsOrIsApart(outer: Definition, inner: Definition): boolean {
  const nests = outer.startLine <= inner.startLine && inner.endLine <= outer.endLine;
  return nests || outer.endLine <= inner.startLine || inner.endLine <= outer.startLine;
}
