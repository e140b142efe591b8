import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stepTurn, strategyTurn, ThinkingWorld } from "./testing/thinking-world.ts";

const STEPS = [
  {
    id: "write",
    description: "Write the documentation",
    confidence: 0.9,
    risk: 0.1,
    complexity: "low",
    rationale: "Nobody can find it",
    alternatives: ["a comment in the code"],
    resources: ["api"],
  },
  { id: "mention", description: "Mention it in a.txt", needs: ["write"], confidence: 0.8, risk: 0.2 },
];

test("a model decides on the steps and carries them out; what it did is shown, explained and applied", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  world.script(
    strategyTurn(STEPS, { text: "Two small steps.", usage: { input_tokens: 100, output_tokens: 20 } }),
    stepTurn("write", {
      text: "I write it first.",
      tool_calls: [{ tool: "write_file", parameters: { path: "docs/new.txt", content: "new\n" } }],
      usage: { input_tokens: 50, output_tokens: 10 },
    }),
    stepTurn("write", { match: { tool: "write_file" }, text: "docs/new.txt is there." }),
    stepTurn("mention", {
      tool_calls: [
        { tool: "read_file", parameters: { path: "a.txt" } },
        { tool: "edit_file", parameters: { path: "a.txt", old: "two", new: "2" } },
      ],
    }),
    stepTurn("mention", { match: { tool: "edit_file" }, text: "a.txt mentions it." }),
  );
  const before = world.state();
  const id = await world.thinking();
  const executed = await agents.json("plan", "execute", id);
  expect(executed).toMatchObject({
    exit_code: 0,
    data: {
      state: "complete",
      steps: [
        { id: "write", tool: null, status: "done" },
        { id: "mention", tool: null, status: "done" },
      ],
      changes: { files: 2 },
    },
  });
  expect(world.state()).toBe(before);
  const diff = await agents.json("plan", "diff", id);
  expect(diff.data["files"]).toMatchObject([
    { path: "a.txt", steps: ["mention/1.2"] },
    { path: "docs/new.txt", steps: ["write/1.1"] },
  ]);
  expect((await agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
  expect(readFileSync(join(world.repository, "docs/new.txt"), "utf8")).toBe("new\n");
  expect(readFileSync(join(world.repository, "a.txt"), "utf8")).toBe("one\n2\n");
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
  expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(0);
  expect(readFileSync(join(world.repository, "a.txt"), "utf8")).toBe("one\ntwo\n");
});
