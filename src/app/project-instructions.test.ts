import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, FIX, LoopWorld, step, type Shown } from "./testing/loop-world.ts";

/** The results that a model was shown for its calls, in order. */
function resultsIn({ messages }: Shown): string[] {
  return messages.filter(({ role }) => role === "tool").map(({ output }) => String(output));
}

const NESTED = "# Project instructions (lib/AGENTS.md)\n\nThe library has no dependencies.";

async function withNested(): Promise<LoopWorld> {
  const world = new LoopWorld();
  world.commit({ "lib/AGENTS.md": "The library has no dependencies.\n", "lib/x.txt": "x\n", "lib/deep/z.txt": "z\n" });
  return world;
}

test("the first result from a directory tells its instructions, by any name and spelling of the path", async () => {
  await using world = await withNested();
  world.script(
    { match: { user: "Decide" }, ...calls("read_file", { file_path: "./lib/deep/z.txt" }) },
    { match: { tool: "read_file" }, ...calls("list_directory", { path: "lib" }) },
    { match: { tool: "list_directory" }, ...calls("record_strategy", { steps: [FIX] }) },
    step("fix", calls("write_file", { path: "lib/y.txt", content: "y\n" })),
    step("fix", { match: { tool: "write_file" }, text: "Done." }),
  );
  const { planId } = (await world.run("do it")) as { planId: string };
  const shown = await world.shown(planId, "fix.2");
  expect(shown.system).not.toContain("no dependencies");
  const [read, listed, recorded, wrote] = resultsIn(shown);
  expect(read).toBe(`1→z\n\n${NESTED}`);
  // Told once in a conversation, also when a later step continues it.
  expect([listed, recorded, wrote].join("\n")).not.toContain("no dependencies");
  const agents = await world.agents();
  const { instructions } = await agents.run("plan.explain", { id: planId });
  expect(instructions).toEqual([{ path: "lib/AGENTS.md", bytes: 32, step: "strategy" }]);
});

test("steps side by side are told each", async () => {
  await using world = await withNested();
  const side = { id: "side", description: "Read beside it", needs: [] };
  const last = { id: "last", description: "Read behind both", needs: ["side", "fix"] };
  const reads = (id: string): object[] => [
    step(id, calls("read_file", { path: "lib/x.txt" })),
    step(id, { match: { tool: "read_file" }, text: "Nothing to do: it was to be read." }),
  ];
  world.script(
    { match: { user: "Decide" }, ...calls("record_strategy", { steps: [FIX, side, last] }) },
    ...reads("fix"),
    ...reads("side"),
    ...reads("last"),
  );
  const { planId } = (await world.run("do it")) as { planId: string };
  for (const name of ["fix.2", "side.2", "last.2"])
    expect(resultsIn(await world.shown(planId, name)).at(-1)).toBe(`1→x\n\n${NESTED}`);
});

test("a plan that is continued by another process shows the same instructions, although their file is gone", async () => {
  await using world = await withNested();
  const first = [
    { match: { user: "Decide" }, ...calls("record_strategy", { steps: [FIX] }) },
    step("fix", calls("read_file", { path: "lib/x.txt" })),
    step("fix", { match: { tool: "read_file" }, ...calls("delete_file", { path: "lib/AGENTS.md" }) }),
  ];
  world.script(...first);
  await expect(world.run("do it")).rejects.toThrow("no turn left");
  world.script(...first, step("fix", { match: { tool: "delete_file" }, text: "Done." }));
  const agents = await world.restart();
  const { plans } = await agents.run("plan.list", {});
  const planId = String(plans[0]?.planId);
  await agents.run("plan.execute", { plan: planId });
  const before = await world.shown(planId, "fix.2");
  const after = await world.shown(planId, "fix.3");
  expect(resultsIn(after).at(0)).toBe(`Recorded.`);
  expect(resultsIn(after).at(1)).toBe(`1→x\n\n${NESTED}`);
  expect(after.messages.slice(0, before.messages.length)).toEqual(before.messages);
});

test("every kind of file with instructions is in the prompt, the nearest whole when they are too long", async () => {
  await using world = new LoopWorld();
  world.commit({
    "CLAUDE.md": "Only CLAUDE.md is here.\n",
    ".cursor/rules/always.mdc": "---\r\nalwaysApply: true\r\n---\r\nThis rule always applies.\r\n",
    ".cursor/rules/sometimes.mdc": "---\nalwaysApply: false\n---\nThis one does not.\n",
    "g/GEMINI.md": "Gemini is told this.\n",
    "c/.github/copilot-instructions.md": "Copilot is told this.\n",
    "c/a.txt": "a\n",
  });
  mkdirSync(join(world.directory, "data"), { recursive: true });
  writeFileSync(join(world.directory, "data", "AGENTS.md"), `My own way. ${"x".repeat(40_000)}\n`);
  world.script(
    { match: { user: "Decide" }, ...calls("list_directory", { path: "g" }) },
    { match: { tool: "list_directory" }, ...calls("read_file", { path: "c/a.txt" }) },
    { match: { tool: "read_file" }, ...calls("record_strategy", { answer: "I see." }) },
  );
  const { planId } = (await world.run("look")) as { planId: string };
  const shown = await world.shown(planId, "strategy.3");
  expect(shown.system).toContain("# Project instructions (CLAUDE.md)\n\nOnly CLAUDE.md is here.");
  expect(shown.system).toContain("This rule always applies.");
  expect(shown.system).not.toContain("This one does not.");
  expect(shown.system).toMatch(/My own way\. x+\n\[cut here: instructions are read up to 32 KiB\]/);
  expect(shown.system.length).toBeLessThan(40_000);
  expect(resultsIn(shown).join("\n")).toMatch(/Gemini is told this\.[\s\S]*Copilot is told this\./);
  const { instructions } = await (await world.agents()).run("plan.explain", { id: planId });
  expect(instructions.map(({ path }) => path)).toEqual([
    "your own AGENTS.md",
    "CLAUDE.md",
    ".cursor/rules/always.mdc",
    "g/GEMINI.md",
    "c/.github/copilot-instructions.md",
  ]);
});
