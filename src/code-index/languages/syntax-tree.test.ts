import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { Language, Parser as LibraryParser } from "web-tree-sitter";
import { SAMPLED, sampleOf } from "../testing/samples.ts";
import { Parser } from "./parser.ts";
import { SyntaxTree } from "./syntax-tree.ts";
import { CPP } from "./cpp.ts";
import { GO } from "./go.ts";
import type { Grammar } from "./grammar.ts";
import { JAVA } from "./java.ts";
import { PYTHON } from "./python.ts";
import { RUST } from "./rust.ts";
import { JAVASCRIPT, TSX, TYPESCRIPT } from "./typescript.ts";

const GRAMMARS: Readonly<Record<string, Grammar>> = {
  typescript: TYPESCRIPT,
  tsx: TSX,
  javascript: JAVASCRIPT,
  python: PYTHON,
  go: GO,
  rust: RUST,
  java: JAVA,
  cpp: CPP,
};

test.each(SAMPLED.filter((language) => language !== "markdown"))(
  "what is copied of %s is what the library's own cursor sees",
  async (language) => {
    const grammar = GRAMMARS[language];
    if (grammar === undefined) throw new Error(language);
    // A part in the middle is missing, so that there are errors too.
    const text = sampleOf(language).slice(0, 900) + sampleOf(language).slice(1000);
    const parser = await Parser.create();
    await parser.load(grammar);
    const tree = new SyntaxTree();
    parser.parse(grammar, text, tree);
    const copied = Array.from({ length: tree.count }, (_, node) => {
      return `${tree.type(node)} ${tree.start(node)}-${tree.end(node)} ${tree.field(node)}`;
    });
    parser.delete();
    expect(copied.length).toBeGreaterThan(50);
    const seen = await seenByCursor(grammar.file, text);
    // Fields are copied only where they can be asked for.
    const plain = new Set(seen.map((line) => `${line.replace(/ \S*$/, "")} `));
    const all = new Set(seen);
    expect(copied.filter((line) => !all.has(line) && !plain.has(line))).toEqual([]);
    const positions = copied.map((line) => Number(/ (\d+)-/.exec(line)?.[1]));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  },
);

async function seenByCursor(file: string, text: string): Promise<string[]> {
  await LibraryParser.init();
  const language = await Language.load(createRequire(import.meta.url).resolve(`@vscode/tree-sitter-wasm/wasm/${file}`));
  const parser = new LibraryParser().setLanguage(language);
  const tree = parser.parse(text);
  const cursor = tree?.walk();
  const seen: string[] = [];
  for (let going = cursor !== undefined; going && cursor !== undefined;) {
    seen.push(`${cursor.nodeType} ${cursor.startIndex}-${cursor.endIndex} ${cursor.currentFieldName ?? ""}`);
    going = cursor.gotoFirstChild() || cursor.gotoNextSibling();
    while (!going && cursor.gotoParent()) going = cursor.gotoNextSibling();
  }
  cursor?.delete();
  tree?.delete();
  parser.delete();
  return seen;
}
