/** Strategies over a real index, good and bad, for tests of the assembler. */
import { existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openScopedIndex } from "../../code-index/search/open-scoped-index.ts";
import { DETAIL_LEVELS } from "../../domain/context/detail-level.ts";
import type { Excerpt, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { IndexMovedError } from "../../code-index/model/index-errors.ts";
import { syncIndex } from "../../code-index/sync/sync-index.ts";
import { seededRandom } from "../../testing/random.ts";
import type { ContextFragment, StrategyInput } from "../model/context-model.ts";
import type { Strategy } from "../executor/strategy-protocol.ts";

type ContextStrategyFunction = Strategy<StrategyInput>;

export function asFragment(excerpt: Excerpt, entity: string, relevance: number, reason = "because"): ContextFragment {
  const { file, startLine, endLine, level, text } = excerpt;
  const { resource, path, hash } = file;
  return {
    entity,
    level,
    relevance,
    content: text,
    tokens: 1,
    reason,
    provenance: { resource, path, startLine, endLine, hash },
  };
}

function read(input: StrategyInput, find: (index: ScopedIndex) => ContextFragment[]): ContextFragment[] {
  using index = openScopedIndex(input.scope);
  return find(index);
}

/** All files in full, the first ones first. */
export const wholeFiles: ContextStrategyFunction = (input) =>
  read(input, (index) =>
    index
      .files()
      .map((file, at) => asFragment(index.excerptOfFile(file, "full"), `${file.resource}:${file.path}`, 1 / (at + 1))),
  );

export const signatures: ContextStrategyFunction = (input) =>
  read(input, (index) =>
    index
      .files()
      .map((file) => asFragment(index.excerptOfFile(file, "signatures"), `${file.resource}:${file.path}`, 0.5)),
  );

export const definitions: ContextStrategyFunction = (input) =>
  read(input, (index) =>
    index
      .files()
      .flatMap((file) =>
        index
          .definitionsIn(file)
          .map((definition) =>
            asFragment(
              index.excerptOfDefinition(definition, "full"),
              `${file.resource}:${file.path}#${definition.name}@${definition.startLine}`,
              0.8,
            ),
          ),
      ),
  );

/** Pieces of files, chosen by the query as a seed; the result is the same however long it takes. */
async function anything(input: StrategyInput, salt: number): Promise<ContextFragment[]> {
  const draw = seededRandom(Number(input.request.query) + salt);
  const found = read(input, (index) => {
    const files = index.files();
    return Array.from({ length: Math.floor(draw() * 40) }, () => {
      const file = files[Math.floor(draw() * files.length)];
      if (file === undefined) return [];
      const name = `${file.resource}:${file.path}`;
      const relevance = Math.round(draw() * 10) / 10;
      if (draw() < 0.4) {
        const level = DETAIL_LEVELS[Math.floor(draw() * DETAIL_LEVELS.length)] ?? "full";
        return [asFragment(index.excerptOfFile(file, level), name, relevance)];
      }
      const start = 1 + Math.floor(draw() * file.lines);
      const end = Math.min(file.lines, start + Math.floor(draw() * 20));
      const excerpt = index.excerptOfLines(file, start, end);
      return [asFragment(excerpt, `${name}:${excerpt.startLine}-${excerpt.endLine}`, relevance)];
    }).flat();
  });
  // Not from the seed: the result must not depend on it.
  await sleep(Math.random() * 20);
  return found;
}

export const anythingA: ContextStrategyFunction = (input) => anything(input, 1);
export const anythingB: ContextStrategyFunction = (input) => anything(input, 2);
export const anythingC: ContextStrategyFunction = (input) => anything(input, 3);

export const nothing: ContextStrategyFunction = () => [];

export const throws: ContextStrategyFunction = () => {
  throw new Error("it is broken");
};

export const hangs: ContextStrategyFunction = () => {
  setInterval(() => {}, 1_000);
  return new Promise(() => {});
};

/** Hangs the first time that it is asked about an index. */
export const hangsOnce: ContextStrategyFunction = (input, context) => {
  const mark = `${input.scope.trees[0]?.index}.asked`;
  if (existsSync(mark)) return signatures(input, context);
  writeFileSync(mark, "");
  return hangs(input, context);
};

export const spins: ContextStrategyFunction = () => {
  for (;;);
};

export const ignoresAbort: ContextStrategyFunction = async () => {
  for (;;) await sleep(1);
};

export const garbage = (): unknown => [1, "two", null];

export const malformed = (): unknown => [
  { content: "no entity", tokens: 1 },
  { content: "level", tokens: 1, entity: "shop:a.ts", level: "everything", relevance: 1, provenance: undefined },
  { content: "relevance", tokens: 1, entity: "shop:a.ts", level: "full", relevance: Number.NaN, provenance: undefined },
  { content: "half", tokens: 1, entity: "shop:a.ts", level: "full", relevance: 1, provenance: { resource: "shop" } },
];

export const floods = (): unknown => {
  const one = { content: "x", tokens: 1 };
  return Array.from({ length: 1_000_000 }, () => one);
};

export const floodsText = (): unknown => {
  const content = "0123456789".repeat(1_000_000);
  return Array.from({ length: 10 }, (_, at) => ({ content: `${at}${content}`, tokens: 1 }));
};

export const floodsBeside = (): unknown => [{ content: "x", tokens: 1, notes: { more: ["y".repeat(100_000_000)] } }];

export const longError: ContextStrategyFunction = () => {
  throw new Error("e".repeat(50_000_000));
};

/** Fragments that the scope does not let through: another file, another version, other text, nothing at all. */
export const leaks: ContextStrategyFunction = (input) =>
  read(input, (index) => {
    const [file] = index.files();
    if (file === undefined) return [];
    const entity = `${file.resource}:${file.path}`;
    const own = asFragment(index.excerptOfFile(file, "full"), entity, 1);
    const { provenance } = own;
    if (provenance === undefined) return [];
    const stolen = "a secret that stands in no file of the scope\n".repeat(5);
    return [
      {
        ...own,
        entity: `${file.resource}:secret.ts`,
        content: stolen,
        provenance: { ...provenance, path: "secret.ts" },
      },
      { ...own, entity: `other:${file.path}`, content: stolen, provenance: { ...provenance, resource: "other" } },
      { ...own, content: stolen, provenance: { ...provenance, hash: "0".repeat(64) } },
      { ...own, provenance: { ...provenance, hash: "0".repeat(64) } },
      { ...own, content: stolen },
      { ...own, content: stolen, level: "signatures" },
      { ...own, content: stolen, level: "listing", entity: `${entity}#nothing@1` },
      { ...own, content: stolen, level: "listing", entity: `${entity}:1-5` },
      { ...own, entity: "decision:unknown", content: stolen, provenance: undefined },
      { ...own, reason: "this one is fine" },
    ];
  });

export const decisions: ContextStrategyFunction = (input) =>
  (input.plan?.decisions ?? []).map(({ id, question, answer }): ContextFragment => ({
    entity: `decision:${id}`,
    level: "full",
    relevance: 0.9,
    content: `${question} ${answer}\n`,
    tokens: 1,
    reason: "decided before",
    provenance: undefined,
  }));

export const pretendsMoved: ContextStrategyFunction = () => {
  throw new IndexMovedError("shop", 1, 2);
};

/** Writes the file the query names unless it exists, has it indexed, and then opens the trees of the scope. */
export const movesIndex: ContextStrategyFunction = async (input) => {
  const file = input.request.query;
  const [tree] = input.scope.trees;
  if (!existsSync(file) && tree !== undefined) {
    writeFileSync(file, "export const somethingNew = [1, 2, 3, 4, 5, 6, 7, 8];\n");
    await syncIndex({ indexFile: tree.index, root: dirname(dirname(file)) });
  }
  return read(input, () => []);
};
