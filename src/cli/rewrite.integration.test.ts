import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { World } from "./testing/world.ts";

test("a plan rewrites code by its structure", async () => {
  using world = new World();
  const { agents } = world;
  for (const [file, text] of [
    ["a.ts", "assert.equal(a(), 1);\nassert.equal(b, f(2));\n"],
    ["b.md", "assert.equal(a, 1)\n"],
  ] as const)
    writeFileSync(join(world.repository, file), text);
  world.commit("code");
  const before = world.state();
  const id = await world.plan(`  - id: rewrite
    tool: rewrite_code
    params: { language: TypeScript, pattern: "assert.equal($ACTUAL, $EXPECTED)", rewrite: "expect($ACTUAL).toBe($EXPECTED)" }
`);
  expect((await agents.json("plan", "execute", id)).data).toMatchObject({ changes: { files: 1, insertions: 2 } });
  const { data } = await agents.json("plan", "diff", id);
  expect(String(data["patch"])).toContain("+expect(a()).toBe(1);\n+expect(b).toBe(f(2));");
  expect(world.state()).toBe(before);
});

test("a declaration of which the pattern names only a part keeps all of it", async () => {
  using world = new World();
  const { agents } = world;
  const several = "var a = require('a')\n  , b = require('b')\n  , c = require('c');\n";
  writeFileSync(join(world.repository, "a.js"), `${several}var d = require('d');\n`);
  world.commit("code");
  const id = await world.plan(`  - id: rewrite
    tool: rewrite_code
    params: { language: javascript, pattern: "var $A = require($B)", rewrite: "const $A = require($B)" }
`);
  expect((await agents.json("plan", "execute", id)).data).toMatchObject({ changes: { files: 1 } });
  const { data } = await agents.json("plan", "diff", id);
  const changed = String(data["patch"])
    .split("\n")
    .filter((line) => /^[-+][^-+]/.test(line));
  expect(changed).toEqual(["-var d = require('d');", "+const d = require('d');"]);
});

test("what cannot be rewritten is told", async () => {
  using world = new World();
  world.agents.write(
    "cobol.yaml",
    `name: cobol
type: tool
description: Rewrites what it cannot
steps:
  - { tool: rewrite_code, params: { language: Cobol, pattern: a, rewrite: b } }
`,
  );
  const { error, exit_code } = await world.agents.json("actor", "add", "--config", "cobol.yaml");
  expect(exit_code).toBe(2);
  expect(error?.detail["issues"]).toMatchObject([
    {
      path: "steps.0.params.language",
      line: 5,
      message: expect.stringContaining("there are JavaScript, TypeScript, TSX, HTML, CSS"),
    },
  ]);
});

test("the parser is loaded by the first rewrite, not before", async () => {
  using world = new World();
  const refuse = `import { registerHooks } from "node:module";
registerHooks({ resolve: (name, context, next) => {
  if (name.startsWith("@ast-grep")) throw new Error("loaded the parser");
  return next(name, context);
} });`;
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(refuse)}` };
  const writing = await world.plan(`  - { tool: write_file, params: { path: x.txt, content: x } }\n`);
  for (const args of [["version"], ["diagnostics"], ["actor", "list"], ["plan", "execute", writing]])
    expect([args, (await world.agents.process(args, { env })).code]).toEqual([args, 0]);
  world.agents.write(
    "other.yaml",
    "name: other\ntype: tool\ndescription: d\nsteps: [{ tool: rewrite_code, params: { language: css, pattern: 'a { }', rewrite: b } }]\n",
  );
  await world.agents.json("actor", "add", "--config", "other.yaml");
  const rewriting = await world.another("--execution-actor", "local/other");
  const { code, stderr } = await world.agents.process(["plan", "execute", rewriting], { env });
  expect([code, stderr]).toEqual([1, expect.stringContaining("loaded the parser")]);
});
