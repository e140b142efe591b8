import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadStages, StrategyRegistry } from "./strategy-registry.ts";
import { AssemblySetUp, strategy } from "../testing/assembly-set-up.ts";
import { nextStep } from "../../domain/errors/next-step.ts";

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "registry-")));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function module(name: string, text: string): string {
  const file = join(directory, name);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const FINDS_NOTHING = "export default () => [];\n";

test("custom strategies stand beside the built-in ones, and those not enabled are not selected", async () => {
  const registry = new StrategyRegistry([strategy("one"), strategy("two")]);
  await registry.load({ name: "mine", module: module("mine.mjs", FINDS_NOTHING) }, [directory]);
  expect(registry.enabled().map(({ name }) => name)).toEqual(["one", "two", "mine"]);
  expect(registry.all().at(-1)?.strategy).toMatchObject({ quality: 0.5, needs: ["text"], exportName: "default" });
  registry.enableOnly(["one", "mine"]);
  expect(registry.enabled().map(({ name }) => name)).toEqual(["one", "mine"]);
  registry.enableOnly(["two"]);
  expect(registry.enabled().map(({ name }) => name)).toEqual(["two"]);
  expect(registry.all().map(({ enabled }) => enabled)).toEqual([false, true, false]);
  expect(() => registry.enableOnly(["twoo"])).toThrow('There is no strategy "twoo" (known: one, two, mine).');
  expect(() => registry.enableOnly(["one", "gone"])).toThrow("gone");
});

test("a custom strategy runs in a worker thread and its fragments are vetted like all others", async () => {
  const own = module(
    "own.mjs",
    `import { isMainThread } from "node:worker_threads";
     export const confidence = () => 1;
     export default () => {
       if (isMainThread) throw new Error("in the main thread");
       return [{ content: "anything", tokens: 1, entity: "shop:x", level: "full", relevance: 1,
         provenance: { resource: "shop", path: "x", startLine: 1, endLine: 1, hash: "" }, reason: "" }];
     };`,
  );
  const registry = new StrategyRegistry([strategy("signatures")]);
  await registry.load({ name: "own", module: own }, [own]);
  await using setUp = new AssemblySetUp(registry.enabled());
  const context = await setUp.assembler.assemble(setUp.input(2_000));
  expect(context.outcomes.map(({ status }) => status)).toEqual(["ran", "ran"]);
  expect(context.gaps).toEqual([
    { kind: "strategy", name: "own", reason: "returned 1 fragment from outside the scope" },
  ]);
});

describe("a module is not loaded", () => {
  const marker = "throw new Error('it was loaded');\n";
  const load = (path: string, trusted: readonly string[]) =>
    new StrategyRegistry([]).load({ name: "own", module: path }, trusted);

  test("unless it is trusted", async () => {
    const file = module("plugins/own.mjs", marker);
    mkdirSync(join(directory, "plug"));
    for (const trusted of [
      [],
      [join(directory, "plug")],
      [join(directory, "plugins/own")],
      [join(directory, "gone")],
    ]) {
      await expect(load(file, trusted)).rejects.toMatchObject({
        code: "configuration",
        message: expect.stringContaining("is not trusted"),
        next: [
          nextStep(
            "config.set",
            { key: "context.trusted-modules", value: [...trusted, file].join(",") },
            "read it, then",
          ),
        ],
      });
    }
    await expect(load(file, [join(directory, "plugins")])).rejects.toThrow("it was loaded");
  });

  test("through a link that leads elsewhere", async () => {
    const file = module("elsewhere/own.mjs", marker);
    mkdirSync(join(directory, "plugins"));
    const link = join(directory, "plugins/own.mjs");
    symlinkSync(file, link);
    await expect(load(link, [join(directory, "plugins")])).rejects.toThrow("is not trusted");
    await expect(load(join(directory, "plugins/../elsewhere/own.mjs"), [join(directory, "plugins")])).rejects.toThrow(
      "is not trusted",
    );
  });

  test("when it does not exist, or has the wrong exports", async () => {
    await expect(load(join(directory, "gone.mjs"), [directory])).rejects.toThrow("does not exist");
    const cases: [string, string][] = [
      ["export const x = 1;", "default export must be a function"],
      [`${FINDS_NOTHING}export const quality = 2;`, "quality must be from 0 to 1"],
      [`${FINDS_NOTHING}export const needs = ["gold"];`, "needs must be a list"],
      [`${FINDS_NOTHING}export const confidence = 1;`, "confidence must be a function"],
      [`${FINDS_NOTHING}export const description = 1;`, "description must be text"],
      ["export default (", "cannot be loaded"],
    ];
    for (const [index, [text, message]] of cases.entries()) {
      await expect(load(module(`${index}.mjs`, text), [directory])).rejects.toThrow(message);
    }
    const fine = module("fine.mjs", FINDS_NOTHING);
    const registry = new StrategyRegistry([strategy("one")]);
    await expect(registry.load({ name: "one", module: fine }, [directory])).rejects.toThrow("two strategies");
    await expect(registry.load({ name: "Not good", module: fine }, [directory])).rejects.toThrow("its name");
  });
});

test("stages come from trusted modules that have the stage's method", async () => {
  const order = module("order.mjs", `export default { name: "Backwards", order: (list) => list.toReversed() };`);
  const stages = await loadStages({ order }, [directory]);
  expect(stages.order?.name).toBe("Backwards");
  await expect(loadStages({ order }, [])).rejects.toThrow("is not trusted");
  await expect(loadStages({ pack: order }, [directory])).rejects.toThrow('an object with a method "pack"');
});
