/** The tools as a model uses them, through a whole plan: it is shown text, and what it leaves lands as it should. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ACTION, stepTurn, strategyTurn, ThinkingWorld } from "./testing/thinking-world.ts";
import { World } from "./testing/world.ts";

/** The step's conversation: each turn asks for calls, and goes on only when the last result is as expected. */
function conversation(...turns: { calls?: [string, object][]; sees?: string; says?: string }[]): string[] {
  const steps = [{ id: "do", description: "Do it" }];
  return [
    strategyTurn(steps),
    ...turns.map(({ calls = [], sees, says }) =>
      stepTurn("do", {
        ...(sees === undefined ? {} : { match: { result: sees } }),
        ...(says === undefined ? {} : { text: says }),
        tool_calls: calls.map(([tool, parameters]) => ({ tool, parameters })),
      }),
    ),
  ];
}

/** Runs the plan to its end; a conversation that does not go as expected fails it. */
async function executed(world: ThinkingWorld, ...turns: Parameters<typeof conversation>): Promise<string> {
  world.script(...conversation(...turns));
  const id = await world.thinking();
  const { data, error } = await world.agents.json("plan", "execute", id);
  expect(error).toBeUndefined();
  expect(data["state"]).toBe("complete");
  return id;
}

test("a model reads all that a failing command printed, mends what it names, and people can read it too", async () => {
  using world = new ThinkingWorld();
  const command = "echo starts; echo 'a.txt:2: two is not 2' >&2; seq 1 20000; grep -q '^2$' a.txt";
  const id = await executed(
    world,
    { calls: [["shell_execute", { cmd: command }]] },
    {
      sees: "/^exit code 1 \\(took [\\d.]+ s\\)\\nstarts\\na.txt:2: two is not 2\\n1\\n.*\\n… \\d+ lines left out; read them with read_file .agent/out/do/1.1\\n.*20000\\n$/s",
      calls: [["read_file", { file_path: ".agent/out/do/1.1", offset: 10_000, limit: 2 }]],
    },
    {
      sees: "/^ *10000→9998\\n *10001→9999\\n/",
      calls: [["search_files", { pattern: "is not", path: ".agent/out/do/1.1" }]],
    },
    { sees: "a.txt:2: two is not 2", calls: [["shell_execute", { command: "sed -i s/two/2/ a.txt" }]] },
    { sees: "/^exit code 0 /", calls: [["shell_execute", { command }]] },
    { sees: "/^exit code 0 /", says: "Mended." },
  );
  const output = await world.agents.run(["plan", "explain", id, "do", "--output"]);
  expect(output.stdout).toContain("# shell_execute\nexit code 1 (took ");
  expect(output.stdout.split("\n").length).toBeGreaterThan(40_000);
  const { data } = await world.agents.json("plan", "explain", id, "do", "--output");
  expect(data["output"]).toContain("\n9999\n");
  expect((await world.agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
  expect(world.git("show", "--name-only", "--format=")).toBe("a.txt\n");
});

test("a step without a model fails with its command, and shows the end of what both streams printed", async () => {
  using world = new World();
  const command = "for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 7";
  const id = await world.plan(`  - { id: test, tool: shell_execute, params: { command: "${command}" } }\n`);
  const { exit_code: code, error } = await world.agents.json("plan", "execute", id);
  expect(code).toBe(1);
  expect(error?.message).toBe("The command ended with exit code 7:\nout 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3");
  const output = await world.agents.run(["plan", "explain", id, "test", "--output"]);
  expect(output.stdout).toContain("out 3\nerr 3");
});

test("a model looks around and edits as it is used to, and hears at once what it broke", async () => {
  using world = new ThinkingWorld();
  const code = "export function add(a: number, b: number) {\n  if (a > 0) {\n    return a + b;\n  }\n  return b;\n}\n";
  writeFileSync(join(world.repository, "docs/add.ts"), code);
  world.commit();
  const id = await executed(
    world,
    { calls: [["find_files", { pattern: "*.ts" }]] },
    { sees: "/^docs/add.ts$/", calls: [["search_files", { query: "(?i)RETURN a", path: "./docs/", context: 1 }]] },
    {
      sees: "/^docs/add.ts\n  2-   if \\(a > 0\\) {\n  3:     return a \\+ b;\n  4-   }$/",
      calls: [["read_file", { file_path: join(world.repository, "docs/add.ts"), offset: 2, limit: 1 }]],
    },
    { sees: "/^2→ .*\n\\[lines 2–2 of 6; continue with offset 3\\]$/", calls: [["read_file", { path: "add.ts" }]] },
    {
      sees: 'Did you mean "docs/add.ts"?',
      calls: [["edit_file", { path: "docs/add.ts", old_string: "  return a - b;", new_string: "" }]],
    },
    {
      sees: "3→    return a + b;\n   yours:   return a - b;",
      // Without its indentation, and with a bracket too many.
      calls: [
        [
          "edit_file",
          { path: "docs/add.ts", old: "if (a > 0) {\n  return a + b;", new: "if (a > 0) {{\n  return a - b;" },
        ],
      ],
    },
    {
      sees: "/^Replaced 1 place in docs/add.ts \\(.* indentation\\).*\n3→    return a - b;\n.*does not any more:\nline \\d+: /s",
      calls: [["edit_file", { path: "docs/add.ts", edits: [{ old: "{{", new: "{" }] }]],
    },
    {
      sees: "/^Replaced 1 place in docs/add.ts. It is now:\n[^]*5→  return b;$/",
      calls: [["write_file", { path: "docs/add.ts", content: "// end\n", append: true }]],
    },
    {
      sees: "/^Wrote docs/add.ts /",
      calls: [["apply_patch", { input: "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** End Patch" }]],
    },
    { sees: 'There is no tool "apply_patch"', says: "Done." },
  );
  expect((await world.agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
  const now = readFileSync(join(world.repository, "docs/add.ts"), "utf8");
  expect(now).toBe(`${code.replace("a + b", "a - b")}// end\n`);
});

test("a model that is trained on patches gets them", async () => {
  using world = new ThinkingWorld();
  world.agents.write(
    "actor.yaml",
    "name: patcher\ntype: llm\ndescription: patches\nmodel: scripted/demo.yaml\ntools: [apply_patch]\n",
  );
  expect((await world.agents.json("actor", "add", "--config", "actor.yaml")).exit_code).toBe(0);
  const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Add File: b.txt\n+new\n*** End Patch";
  world.script(...conversation({ calls: [["apply_patch", { input: patch }]] }, { sees: "Added b.txt", says: "Done." }));
  const id = await world.thinking(ACTION.replace("scripted/demo.yaml", "local/patcher"));
  expect((await world.agents.json("plan", "execute", id)).data["state"]).toBe("complete");
  const diff = await world.agents.json("plan", "diff", id);
  expect(diff.data["files"]).toMatchObject([{ path: "a.txt" }, { path: "b.txt" }]);
});
