import { hash } from "node:crypto";
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
    rationale: "It is hard to find",
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
  await explained(world, id, diff.data["files"] as { decisions: string[] }[]);
  expect((await agents.json("plan", "status", id)).data["usage"]).toEqual({
    model_calls: 5,
    failed_calls: 0,
    input_tokens: 150,
    output_tokens: 30,
    cached_tokens: 0,
    cache_write_tokens: 0,
    cost_usd: 0,
    calls_without_price: 0,
  });
  expect((await agents.run(["plan", "status", id])).stdout).toContain("5 calls, 150 tokens in, 30 out");
  expect((await agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
  expect(readFileSync(join(world.repository, "docs/new.txt"), "utf8")).toBe("new\n");
  expect(readFileSync(join(world.repository, "a.txt"), "utf8")).toBe("one\n2\n");
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
  expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(0);
  expect(readFileSync(join(world.repository, "a.txt"), "utf8")).toBe("one\ntwo\n");
});

interface TreeNode {
  readonly id: string;
  readonly type: string;
  readonly step: string | null;
  readonly children: readonly TreeNode[];
}

/** Checks the tree and the explanations of the plan above. */
async function explained(
  { agents }: ThinkingWorld,
  id: string,
  files: readonly { decisions: string[] }[],
): Promise<void> {
  const tree = await agents.json("plan", "tree", id);
  expect(tree.data).toMatchObject({
    tree: {
      type: "prompt_definition",
      children: [
        {
          type: "strategy_choice",
          tool: "record_strategy",
          rationale: "Two small steps.",
          children: [
            {
              step: "write",
              type: "strategy_choice",
              confidence: 0.9,
              rationale: "It is hard to find",
              state: "done",
              changes: 1,
              children: [
                { type: "tool_invocation", tool: "write_file", state: "done", changes: 1 },
                { type: "implementation_choice", title: "docs/new.txt is there.", state: "decided" },
              ],
            },
            { step: "mention", confidence: 0.8, children: [{ tool: "read_file, edit_file" }, {}] },
          ],
        },
      ],
    },
    summary: { nodes: 8, depth: 3, superseded: 0 },
  });
  const ids = tree.data["decision_ids"] as Record<string, string>;
  expect(Object.keys(ids)).toEqual([
    "root",
    "strategy",
    "write",
    "mention",
    "write.1",
    "write.2",
    "mention.1",
    "mention.2",
  ]);
  const shallow = await agents.json("plan", "tree", id, "--depth", "1");
  expect((shallow.data["tree"] as TreeNode).children).toMatchObject([{ children: [] }]);
  expect((await agents.json("plan", "tree", id, "--depth", "x")).exit_code).toBe(2);
  // Each change leads back to the answer of the model that asked for it.
  expect(files.map(({ decisions }) => decisions)).toEqual([[ids["mention.1"]], [ids["write.1"]]]);

  const byStep = await agents.json("plan", "explain", id, "write", "--show-alternatives");
  expect(byStep.data).toMatchObject({
    decision: { id: ids["write"], confidence: 0.9, alternatives: ["a comment in the code"], state: "done" },
    tool_calls: [{ tool: "write_file", outcome: "ok" }],
    files: [{ path: "docs/new.txt", counts: true }],
    context_snapshot: null,
    model_call: null,
  });
  const asked = String(ids["write.1"]);
  const answer = await agents.json("plan", "explain", asked, "--show-context", "--show-reasoning");
  expect(answer.data).toMatchObject({
    decision: { type: "tool_invocation", rationale: "I write it first.", reasoning: "I write it first." },
    model_call: { model: "scripted/demo.yaml", input_tokens: 50, output_tokens: 10, cost_usd: 0 },
  });
  // The command prints exactly the bytes whose hash was recorded.
  const { stdout } = await agents.run(["plan", "explain", asked, "--show-context"]);
  expect(hash("sha256", stdout)).toBe((answer.data["context_snapshot"] as { sha256: string }).sha256);
  expect(answer.data["context"]).toBe(stdout);
  const seen = JSON.parse(stdout) as { messages: { content: string }[]; tools: { name: string }[] };
  for (const part of [
    "Improve docs",
    "The documentation says what changed",
    "- Keep the public interface",
    "what: docs",
  ])
    expect(seen.messages[0]?.content).toContain(part);
  // The step continues the conversation in which the strategy was decided.
  expect(seen.messages.slice(1)).toMatchObject([
    { role: "user", content: "Decide how this is done: Improve docs" },
    { role: "assistant", content: "Two small steps.", toolCalls: [{ parameters: { steps: [{}, {}] } }] },
    { role: "tool", tool: "record_strategy", failed: false },
    { role: "user", content: 'Carry out the step "write": Write the documentation' },
  ]);
  expect(seen.tools.map(({ name }) => name)).toContain("write_file");
  await explainedToPeople(agents, id, ids["root"]);
}

async function explainedToPeople(agents: ThinkingWorld["agents"], id: string, root: string | undefined): Promise<void> {
  // A plan's id alone explains what it is asked to do; people see the reason too.
  expect((await agents.json("plan", "explain", id)).data["decision"]).toMatchObject({ id: root });
  expect((await agents.run(["plan", "explain", id, "write"])).stdout).toContain("It is hard to find");
  // A step as such was shown to no model: its first answer stands for it.
  expect((await agents.json("plan", "explain", id, "write", "--show-context")).data["decision"]).toMatchObject({
    step: null,
    type: "tool_invocation",
  });
  expect((await agents.json("plan", "explain", "01ZZZZZZZZZZZZZZZZZZZZZZZZ")).exit_code).toBe(3);
}
