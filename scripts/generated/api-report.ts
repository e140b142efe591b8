/**
 * The report of what each door of the package exports, made from the declarations that the package ships: one block for
 * each name, sorted, without comments. It is checked in, so that a change of the public interface is seen in a review.
 * Every exported name has a doc comment; the report says which do not.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseSync, type Comment, type Directive, type Statement } from "oxc-parser";
import type { GeneratedPage } from "./generated-page.ts";

const DOORS = { index: "cleveragents", primitives: "cleveragents/primitives", definitions: "cleveragents/definitions" };

interface Declaration {
  /** Without comments. */
  readonly text: string;
  readonly isDocumented: boolean;
}

export function apiReport(): { readonly pages: readonly GeneratedPage[]; readonly problems: readonly string[] } {
  const directory = mkdtempSync(join(tmpdir(), "declarations-"));
  try {
    const tsc = join(import.meta.dirname, "../../node_modules/.bin/tsc");
    execFileSync(tsc, ["-p", "tsconfig.types.json", "--outDir", directory], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    const problems: string[] = [];
    const pages = Object.entries(DOORS).map(([door, name]) => {
      const exported = exportsOf(join(directory, `${door}.d.ts`)).toSorted(([a], [b]) => (a < b ? -1 : 1));
      for (const [one, { isDocumented }] of exported)
        if (!isDocumented) problems.push(`${name} exports ${one} without a doc comment`);
      return { file: `docs/api/${door}.md`, text: pageOf(name, exported) };
    });
    return { pages, problems };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function pageOf(door: string, exported: readonly (readonly [string, Declaration])[]): string {
  const blocks = exported.map(([name, { text }]) => `## ${name}\n\n\`\`\`ts\n${text}\n\`\`\`\n`);
  return [
    `# ${door}\n`,
    `${exported.length} names. Made by \`npm run api\` from the declarations of the package; do not edit.\n`,
    ...blocks,
  ].join("\n");
}

/** The names that a declaration file exports, each with its declaration, also where that is in another file. */
function exportsOf(file: string): (readonly [string, Declaration])[] {
  return parsed(file).program.body.flatMap((statement) => {
    if (statement.type !== "ExportNamedDeclaration" || statement.source === null) return [];
    const from = join(dirname(file), statement.source.value.replace(/\.ts$/, ".d.ts"));
    return statement.specifiers.flatMap(({ local, exported }) =>
      local.type === "Identifier" && exported.type === "Identifier"
        ? [[exported.name, declarationOf(from, local.name)] as const]
        : [],
    );
  });
}

function declarationOf(file: string, name: string): Declaration {
  const { text, comments, program } = parsed(file);
  const index = program.body.findIndex((statement) => declaredName(statement) === name);
  const found = program.body[index];
  if (found === undefined) {
    const again = exportsOf(file).find(([one]) => one === name);
    if (again === undefined) throw new Error(`${file} does not declare ${name}`);
    return again[1];
  }
  const before = program.body[index - 1]?.end ?? 0;
  const isDocumented = comments.some(
    ({ type, value, start, end }) => type === "Block" && value.startsWith("*") && start >= before && end <= found.start,
  );
  return { text: withoutComments(text, comments, found), isDocumented };
}

function declaredName(statement: Directive | Statement): string | undefined {
  if (statement.type !== "ExportNamedDeclaration" || statement.declaration === null) return undefined;
  const { declaration } = statement;
  if (declaration.type === "VariableDeclaration") {
    const id = declaration.declarations[0]?.id;
    return id?.type === "Identifier" ? id.name : undefined;
  }
  return "id" in declaration && declaration.id?.type === "Identifier" ? declaration.id.name : undefined;
}

function withoutComments(
  text: string,
  comments: readonly Comment[],
  { start, end }: { start: number; end: number },
): string {
  let made = "";
  let position = start;
  for (const comment of comments.filter((one) => one.start >= start && one.end <= end)) {
    made += text.slice(position, comment.start);
    position = comment.end;
  }
  return (made + text.slice(position, end)).replaceAll(/\n\s*(?=\n)/g, "").trim();
}

interface ParsedFile {
  readonly text: string;
  readonly comments: readonly Comment[];
  readonly program: ReturnType<typeof parseSync>["program"];
}

function parsed(file: string): ParsedFile {
  const text = readFileSync(file, "utf8");
  const { program, comments } = parseSync(file, text);
  return { text, comments, program };
}
