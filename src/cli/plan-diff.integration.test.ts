/** `plan diff` reads like `git diff`, and says who made each hunk. */
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Environment } from "../domain/values/environment.ts";
import { runCli } from "./run-cli.ts";
import { capturedIo } from "./testing/captured-io.ts";
import { git } from "../testing/git-repository.ts";
import { World, type Step } from "./testing/user-world.ts";

const LINES = Array.from({ length: 30 }, (_, index) => `line number ${index + 1}\n`).join("");
const api = (tool: Step[0], params: Step[1], id: string, needs: string[] = []): Step => [
  tool,
  { resource: "api", ...params },
  { id, needs },
];

async function changedWorld(): Promise<{ world: World; id: string }> {
  const world = await World.make({ files: { "src/long.txt": LINES, "späße.txt": "eins\n", "old name.txt": LINES } });
  const id = await world.executed(
    api("edit_file", { path: "src/long.txt", old: "number 2\n", new: "count 2\n" }, "top"),
    api("edit_file", { path: "src/long.txt", old: "number 28\n", new: "count 28\n" }, "bottom", ["top"]),
    api("write_file", { path: "späße.txt", content: "zwei\n" }, "joke"),
    api("move_file", { path: "old name.txt", to: "new name.txt" }, "move"),
  );
  return { world, id };
}

/** As on a terminal: what was printed, and what a pager was given. */
async function onTerminal(world: World, words: readonly string[], env: Environment = {}) {
  const io = capturedIo({ env: { CLEVERAGENTS_DATA_DIR: world.agents.dataDir, ...env }, cwd: world.repository });
  const paged: { command: string; text: string }[] = [];
  const code = await runCli(words, {
    ...io,
    stdout: { ...io.stdout, isTTY: true, columns: 80 },
    startPager: (command, text) => {
      paged.push({ command, text });
      return Promise.resolve(command !== "missing");
    },
  });
  return { code, paged, ...io.written };
}

test("names are plain, a rename is one, the stat counts lines, and paths limit it", async () => {
  const { world, id } = await changedWorld();
  await using _ = world;
  const { stdout } = await world.agents.run(["plan", "diff", id]);
  expect(stdout).toContain("diff --git a/späße.txt b/späße.txt\n");
  expect(stdout).toContain("rename from old name.txt\nrename to new name.txt\n");
  git(world.repository, "apply", "--check", world.agents.write("all.patch", stdout));
  const stat = await world.agents.run(["plan", "diff", id, "--stat"]);
  expect(stat.stdout).toMatch(/^old name\.txt → new name\.txt +api +renamed +0 +0 +move$/m);
  expect(stat.stdout).toMatch(/^src\/long\.txt +api +modified +2 +2 +top, bottom$/m);
  expect(stat.stdout).toContain("3 files changed, 3 insertions, 3 deletions.");
  const limited = await world.agents.run(["plan", "diff", id, "src/", "späße.txt"]);
  expect(limited.stdout.match(/^diff --git .*$/gm)).toEqual(
    ["diff --git a/späße.txt b/späße.txt", "diff --git a/src/long.txt b/src/long.txt"].toSorted(
      (a, b) => stdout.indexOf(a) - stdout.indexOf(b),
    ),
  );
  const none = await world.agents.json("plan", "diff", id, "nowhere");
  expect([none.exit_code, none.error?.message]).toEqual([2, 'The plan changed nothing at "nowhere".']);
});

test("each hunk names the step, the tool and the reason behind it, also in a file that two steps changed", async () => {
  const { world, id } = await changedWorld();
  await using _ = world;
  const { data } = await world.agents.json("plan", "diff", id, "--why");
  const hunks = data["hunks"] as {
    path: string;
    hunk: number | null;
    kind: string;
    by: { step: string; tool: string }[];
  }[];
  const by = hunks.map(({ path, hunk, kind, by: own }) => [
    path,
    hunk,
    kind,
    own.map(({ step, tool }) => `${step} ${tool}`),
  ]);
  expect(by).toContainEqual(["src/long.txt", 1, "lines", ["top edit_file"]]);
  expect(by).toContainEqual(["src/long.txt", 2, "lines", ["bottom edit_file"]]);
  expect(by).toContainEqual(["new name.txt", null, "rename", ["move move_file"]]);
  const { stdout } = await world.agents.run(["plan", "diff", id, "--why", "src/long.txt"]);
  expect(stdout).toMatch(/^@@ -1,5 \+1,5 @@.*\n {2}by top › edit_file/m);
  expect(stdout).toMatch(/^@@ -25,6 \+25,6 @@.*\n {2}by bottom › edit_file/m);
});

test("a terminal gets it in the pager with colors and changed words, a pipe gets neither", async () => {
  const { world, id } = await changedWorld();
  await using _ = world;
  const seen = await onTerminal(world, ["plan", "diff", id, "src"], { PAGER: "most", TERM: "xterm" });
  expect([seen.code, seen.stdout, seen.paged.map(({ command }) => command)]).toEqual([0, "", ["most"]]);
  const text = seen.paged[0]?.text ?? "";
  expect(text).toContain("\u001b[7m\u001b[32mcount\u001b[39m\u001b[27m");
  expect(stripVTControlCharacters(text)).toBe((await world.agents.run(["plan", "diff", id, "src"])).stdout);
  const { paged } = await onTerminal(world, ["plan", "diff", id], { PAGER: "most", GIT_PAGER: "delta", TERM: "xterm" });
  expect(paged[0]?.command).toBe("delta");
  for (const env of [{ PAGER: "cat" }, { PAGER: "" }, { TERM: "dumb" }]) {
    const printed = await onTerminal(world, ["plan", "diff", id], { TERM: "xterm", ...env });
    expect([printed.paged, stripVTControlCharacters(printed.stdout).includes("count 28")]).toEqual([[], true]);
  }
  const direct = await onTerminal(world, ["plan", "diff", id, "--no-pager"], { TERM: "xterm" });
  expect([direct.paged, direct.stdout.includes("späße")]).toEqual([[], true]);
  const missing = await onTerminal(world, ["plan", "diff", id], { TERM: "xterm", PAGER: "missing" });
  expect(missing.stdout).toContain("späße");
  const colorless = await onTerminal(world, ["plan", "diff", id], { TERM: "xterm", NO_COLOR: "1" });
  expect(colorless.paged[0]?.text).not.toContain("\u001b");
});

test("a pager gets nothing that a terminal obeys, and a binary file is a line to a person", async () => {
  await using world = await World.make({
    files: { "blob.bin": Buffer.from([0, 1, 2, 255]), "evil.txt": "a\u202eb\u001b[2Jc\n" },
  });
  const id = await world.executed(
    api("edit_file", { path: "evil.txt", old: "a", new: "A" }, "evil"),
    api("delete_file", { path: "blob.bin" }, "gone"),
  );
  const { paged } = await onTerminal(world, ["plan", "diff", id], { TERM: "xterm" });
  const text = stripVTControlCharacters(paged[0]?.text ?? "");
  expect(text).toContain("+A<U+202E>b<U+001B>[2Jc");
  expect(text).toContain("Binary file: --output FILE writes a patch that has its bytes.");
  expect(text).not.toContain("GIT binary patch");
  expect((await world.agents.run(["plan", "diff", id])).stdout).toContain("GIT binary patch");
});
