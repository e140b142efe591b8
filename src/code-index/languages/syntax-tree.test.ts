import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { Language, Parser as LibraryParser } from "web-tree-sitter";
import { SAMPLED, sampleOf } from "../testing/samples.ts";
import { Parser } from "./parser.ts";
import { SyntaxTree } from "./syntax-tree.ts";
import { CPP } from "./cpp.ts";
import { GO } from "./go.ts";
import { type Grammar, ROLE } from "./grammar.ts";
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

const LANGUAGES = SAMPLED.filter((language) => language !== "markdown");

test.each(LANGUAGES)("the copied nodes of %s are those that the library's own cursor sees", async (language) => {
  const grammar = GRAMMARS[language];
  if (grammar === undefined) throw new Error(language);
  const sample = sampleOf(language);
  const parser = await Parser.create();
  await parser.load(grammar);
  const tree = new SyntaxTree();
  let fields = 0;
  // As it is, and with parts missing in the middle, so that there are errors too.
  for (const cut of [0, 100, ...Array.from({ length: 30 }, (_, round) => round + 1)]) {
    const middle = cut === 0 ? 0 : Math.floor((sample.length * (cut % 30)) / 30);
    const text = sample.slice(0, middle) + sample.slice(middle + cut);
    parser.parse(grammar, text, tree);
    const copied = Array.from({ length: tree.count }, (_, node): Copied => {
      const [start, end] = [tree.start(node), tree.end(node)];
      return {
        type: tree.type(node),
        start,
        end,
        field: tree.field(node),
        parent: tree.parent(node),
        after: tree.after(node),
      };
    });
    fields += copied.filter(({ field }) => field !== "").length;
    expect({ copied, hasErrors: tree.hasErrors, firstError: tree.firstError }).toEqual(
      await seenByCursor(grammar, text),
    );
  }
  parser.delete();
  expect(fields).toBeGreaterThan(100);
});

test("a tree larger than all before it is copied whole", async () => {
  const parser = await Parser.create();
  await parser.load(TYPESCRIPT);
  const tree = new SyntaxTree();
  parser.parse(TYPESCRIPT, "a;\n".repeat(200_000), tree);
  expect(tree.count).toBeGreaterThan(200_000);
  expect(tree.textOf(tree.count - 1)).toBe("a");
  parser.delete();
});

interface Copied {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly field: string;
  readonly parent: number;
  after: number;
}

/** The nodes that should be copied of a tree, found by slow steps. */
async function seenByCursor(
  grammar: Grammar,
  text: string,
): Promise<{ copied: Copied[]; hasErrors: boolean; firstError: number }> {
  await LibraryParser.init();
  const file = createRequire(import.meta.url).resolve(`@vscode/tree-sitter-wasm/wasm/${grammar.file}`);
  const parser = new LibraryParser().setLanguage(await Language.load(file));
  const tree = parser.parse(text);
  if (tree === null) throw new Error("nothing was parsed");
  const cursor = tree.walk();
  const copied: Copied[] = [];
  let firstError = -1;
  const visit = (owner: number, parentRole: number): void => {
    const { nodeType: type, nodeIsNamed, startIndex: start, endIndex: end } = cursor;
    if (type === "ERROR" && firstError < 0) firstError = start;
    const role = nodeIsNamed ? (Object.hasOwn(grammar.roles, type) ? (grammar.roles[type] ?? 0) : 0) : ROLE.leaf;
    const closed = ROLE.leaf | ROLE.opaque;
    const isWanted = (role & ~closed) !== 0 || ((parentRole & ROLE.children) !== 0 && (role & ROLE.leaf) === 0);
    const field = isWanted && parentRole !== 0 ? (cursor.currentFieldName ?? "") : "";
    const own = isWanted ? copied.push({ type, start, end, field, parent: owner, after: 0 }) - 1 : -1;
    if ((role & closed) === 0 && cursor.gotoFirstChild()) {
      do visit(own >= 0 ? own : owner, own >= 0 ? role | ROLE.kept : 0);
      while (cursor.gotoNextSibling());
      cursor.gotoParent();
    }
    const copy = copied[own];
    if (copy !== undefined) copy.after = copied.length;
  };
  visit(-1, 0);
  const seen = { copied, hasErrors: tree.rootNode.hasError, firstError };
  cursor.delete();
  tree.delete();
  parser.delete();
  return seen;
}
