/**
 * The part of what failing commands print that reaches the model: test runners, compilers, tracebacks, diffs. The same
 * command is run outside of any sandbox for comparison; lines are compared without numbers and places, which differ.
 */
import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { strictServer } from "../actors/testing/strict-server.ts";
import { ROOT } from "./testing/agents.ts";
import { profileFor } from "./testing/confinement.ts";
import { calls, lastResult, TurnList, WireWorld } from "./testing/wire-world.ts";

const LEAST_SHOWN = 0.95;
const LEAST_COMMANDS = 11;
const TSC = join(ROOT, "node_modules/.bin/tsc");

const FILES: Readonly<Record<string, string>> = {
  "test_sum.py": `import unittest


class Sums(unittest.TestCase):
    def test_small(self):
        self.assertEqual(1 + 1, 3, "a small sum")

    def test_list(self):
        self.assertEqual([1, 2, 3], [1, 2, 4])
`,
  "deep.py": "def a(n):\n    return b(n)\n\n\ndef b(n):\n    return {}['missing'] + n\n\n\nprint('begins')\na(1)\n",
  "bad.json": '{"a": [1, 2,, 3]}\n',
  "sum.test.mjs":
    'import assert from "node:assert";\nimport { test } from "node:test";\ntest("adds", () => assert.equal(1 + 1, 3));\ntest("lists", () => assert.deepEqual([1, 2], [1, 3]));\n',
  "crash.mjs":
    'import { readFileSync } from "node:fs";\nconsole.log("begins");\nconsole.error("warns");\nreadFileSync("not-there");\n',
  "types.ts":
    'const count: number = "three";\nfunction twice(value: number): string {\n  return value * 2;\n}\ntwice("x");\nexport { count };\n',
  Makefile: "all: first second\nfirst:\n\t@echo building first\nsecond:\n\tgcc -c missing.c\n",
  "a.txt": "one\ntwo\nthree\n",
  "b.txt": "one\n2\nthree\nfour\n",
  "wrong.c": '#include <stdio.h>\nint main(void) {\n  int x = "text";\n  printf("%d\\n", y);\n  return 0\n}\n',
  "Wrong.java": "class Wrong {\n  int a() { return missing; }\n  String b() { return 3; }\n}\n",
  "wrong.pl":
    "use strict;\nuse warnings;\nprint 'begins', qq(\\n);\nmy $x = undef;\nprint $x + 1, qq(\\n);\ndie { code => 3 } if 0;\ndie 'it fails';\n",
  "wrong.t": "use Test::More tests => 2;\nis(1 + 1, 3, 'adds');\nis_deeply([1, 2], [1, 3], 'lists');\n",
  "wrong.sh": "echo begins\nif true; then\n  echo open\n",
};

const COMMANDS: readonly (readonly [program: string, command: string])[] = [
  ["python3", "python3 -m unittest -v"],
  ["pytest", "pytest -q -p no:cacheprovider test_sum.py"],
  ["python3", "python3 deep.py"],
  ["python3", "python3 -m json.tool bad.json"],
  ["node", "node --test sum.test.mjs"],
  ["node", "node crash.mjs"],
  [TSC, `${TSC} --noEmit --strict types.ts`],
  ["make", "make"],
  ["diff", "diff -u a.txt b.txt"],
  ["git", "git diff --no-index --stat -p a.txt b.txt"],
  ["gcc", "gcc -Wall -c wrong.c"],
  ["javac", "javac -d . Wrong.java"],
  ["perl", "perl wrong.pl"],
  ["prove", "prove -v wrong.t"],
  ["sh", "sh wrong.sh"],
];

function isInstalled(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}

/** Without numbers, which are times and process ids, and without the directory. */
function comparable(text: string): string[] {
  return text
    .replaceAll(/(?:\/[\w.@-]+)+\/(?=[\w.-]+)/g, "/")
    .replaceAll(/[\d.]+/g, "0")
    .replaceAll(/=+|-{4,}/g, "=")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** How much of the printed lines, by their length, is among those that were shown. */
function shareShown(printed: string, shown: string): number {
  const there = comparable(shown);
  const lines = comparable(printed);
  let found = 0;
  for (const line of lines) {
    const at = there.indexOf(line);
    if (at === -1) continue;
    there.splice(at, 1);
    found += line.length;
  }
  return found / Math.max(1, lines.join("").length);
}

test("a model sees at least 95 % of what failing commands print", { timeout: 600_000 }, async () => {
  const [run, missing] = [true, false].map((here) => COMMANDS.filter(([program]) => isInstalled(program) === here));
  for (const [program] of missing ?? []) process.stdout.write(`skipped: ${program} is not installed here\n`);
  const commands = (run ?? []).map(([, command]) => command);
  expect(commands.length).toBeGreaterThanOrEqual(LEAST_COMMANDS);
  const turns = new TurnList([
    calls("record_strategy", { steps: [{ id: "run", description: "Run them", risk: 0.1, confidence: 0.9 }] }),
    { calls: commands.map((command) => ({ name: "shell_execute", input: { command } })) },
    { text: "NOTHING TO DO: they all fail." },
  ]);
  await using server = await strictServer({ script: turns.script });
  using world = new WireWorld();
  await world.at(server);
  world.commit(FILES);
  const outside = join(world.directory, "outside");
  cpSync(world.repository, outside, { recursive: true });
  const profile = ["--automation-profile", await profileFor(world, "trusted")];
  const { error } = await world.asked("run them", "--actor", "anthropic/claude-sonnet-4-5", ...profile);
  expect(error).toBeUndefined();
  const results = toolResults(server.log.at(-1)?.body["messages"]);
  expect(results).toHaveLength(commands.length);
  const shares = commands.map((command, index) => {
    // As in a sandbox: some programs print more where no person watches.
    const options = { cwd: outside, encoding: "utf8", env: { ...process.env, CI: "true" } } as const;
    const { status, stdout } = spawnSync("sh", ["-c", `(${command}\n) 2>&1`], options);
    const share = shareShown(stdout, results[index] ?? "");
    process.stdout.write(`${(share * 100).toFixed(1).padStart(6)} % of ${stdout.length} characters: ${command}\n`);
    expect(status).not.toBe(0);
    return { command, fails: /^exit code [1-9]/.test(results[index] ?? ""), share, printed: stdout.length };
  });
  const few = shares.filter(({ share, fails }) => !fails || share < LEAST_SHOWN);
  expect(few).toEqual([]);
});

test("of an output that is too long, both ends are shown, and the rest can be read by the path that is named", async () => {
  const seen: string[] = [];
  const turns = new TurnList([
    calls("record_strategy", { steps: [{ id: "run", description: "Run it", risk: 0.1, confidence: 0.9 }] }),
    calls("shell_execute", { command: "echo the beginning; seq 1 30000; echo the end; exit 3" }),
    (request) => {
      seen.push(lastResult(request));
      const [, path = ""] = /read_file (\S+)/.exec(lastResult(request)) ?? [];
      return calls("read_file", { path, offset: 15_001, limit: 3 });
    },
    (request) => {
      seen.push(lastResult(request));
      return { text: "NOTHING TO DO: it is read." };
    },
  ]);
  await using server = await strictServer({ script: turns.script });
  using world = new WireWorld();
  await world.at(server);
  const profile = ["--automation-profile", await profileFor(world, "trusted")];
  const { error } = await world.asked("run it", "--actor", "anthropic/claude-sonnet-4-5", ...profile);
  expect(error).toBeUndefined();
  const [first = "", second = ""] = seen;
  expect(first).toMatch(/^exit code 3 [^]*the beginning\n1\n2\n[^]*lines left out[^]*\n30000\nthe end\n$/);
  expect(first.length).toBeLessThan(31_000);
  expect(second).toMatch(/→15000\n.*→15001\n.*→15002/);
});

/** The texts of the results in the last message. */
function toolResults(messages: unknown): string[] {
  const all = messages as { role: string; content: { type: string; content?: string | { text: string }[] }[] }[];
  const last = all.findLast(({ content }) => content.some(({ type }) => type === "tool_result"));
  return (last?.content ?? []).flatMap(({ type, content = "" }) => {
    if (type !== "tool_result") return [];
    return [typeof content === "string" ? content : content.map(({ text }) => text).join("")];
  });
}
