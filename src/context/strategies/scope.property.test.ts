/**
 * Nothing from outside the scope, for any request: two projects with the same names and symbols, and random filters on
 * each.
 */
import * as fc from "fast-check";
import { matchesGlob } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmbeddingServer, type EmbeddingServer } from "../testing/embedding-server.ts";
import { type StrategyName, StrategySetUp } from "../testing/strategy-set-up.ts";
import { sized } from "../../testing/size.ts";

const NAMES = ["openStore", "Lease", "renew", "readClock", "PlanTree"];
const PATHS = [
  "src/store.ts",
  "src/lease.ts",
  "src/deep/clock.ts",
  "lib/plan.ts",
  "test/store.test.ts",
  "secret/keys.ts",
];

/** Every file defines a name or two of its own, and uses all the others, of both projects. */
function project(secret: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    PATHS.map((path, position) => {
      const up = "../".repeat(path.split("/").length - 1);
      const imports = PATHS.filter((other) => other !== path).map((other) => `import "${up}${other}";`);
      const own = NAMES[position % NAMES.length] ?? "";
      const uses = NAMES.filter((name) => name !== own).map((name) => `  ${name}();`);
      return [
        path,
        `${imports.join("\n")}\n\n/** ${secret} keeps ${own}. */\nexport function ${own}(): void {\n${uses.join("\n")}\n}\n`,
      ];
    }),
  );
}

const PROJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ours: project("ourWord"),
  theirs: project("theirWord"),
};

function sizeOf(resource: string, path: string): number {
  return Buffer.byteLength(PROJECTS[resource]?.[path] ?? "");
}

const STRATEGIES: readonly StrategyName[] = [
  "simpleKeyword",
  "breadthDepthNavigator",
  "symbolRank",
  "planDecisionContext",
  "semanticEmbedding",
];

let code: StrategySetUp;
let server: EmbeddingServer;
beforeAll(async () => {
  server = await startEmbeddingServer();
  code = await StrategySetUp.of(PROJECTS);
});
afterAll(async () => {
  code[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

const globs = fc.subarray(["src/**", "**/*.test.ts", "lib/*", "secret/**", "**/clock.ts", "src/store.ts"], {
  maxLength: 3,
});
const filter = fc.record({
  include: globs,
  exclude: globs,
  maxFileSize: fc.constantFrom(undefined, 0, 330, 10_000),
});
const asked = fc.record({
  query: fc.constantFrom(
    "",
    ...NAMES,
    "where is ourWord and theirWord kept?",
    "secret/keys.ts and theirs:src/lease.ts",
  ),
  entities: fc.subarray(NAMES),
  focus: fc.subarray(["theirs:src/store.ts", "src/lease.ts", "secret", "theirs:secret/keys.ts#openStore", "src"]),
  breadth: fc.integer({ min: 0, max: 4 }),
});

test.each(STRATEGIES)("%s shows nothing from outside the scope", { timeout: 120_000 }, async (name) => {
  const plan = {
    planId: "P",
    goal: "",
    decisions: [],
    changedPaths: PATHS.flatMap((path) => [`ours:${path}`, `theirs:${path}`]),
  };
  await fc.assert(
    fc.asyncProperty(asked, filter, filter, fc.boolean(), async (request, ours, theirs, hasTheirs) => {
      const filters = hasTheirs ? { ours, theirs } : { ours };
      const scope = await code.scope(filters);
      const embedding = { url: server.url, model: "words" };
      for (const { provenance, content, entity } of await code.run(name, request, { scope, plan, embedding })) {
        const { resource = "", path = "" } = provenance ?? {};
        const own = Object.entries(filters).find(([known]) => known === resource)?.[1];
        expect(own, entity).toBeDefined();
        expect(own?.include.length === 0 || own?.include.some((glob) => matchesGlob(path, glob)), entity).toBe(true);
        expect(
          own?.exclude.some((glob) => matchesGlob(path, glob)),
          entity,
        ).toBe(false);
        expect(sizeOf(resource, path), entity).toBeLessThanOrEqual(own?.maxFileSize ?? Infinity);
        expect(content).not.toContain(resource === "ours" ? "theirWord" : "ourWord");
        expect(entity.startsWith(`${resource}:${path}`)).toBe(true);
      }
    }),
    { numRuns: sized({ quick: 8, normal: 30, full: 300 }) },
  );
});
