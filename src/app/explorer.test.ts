/** Questions that a model hands to conversations of their own, from outside. */
import { expect, test } from "vitest";
import { calls, FIX, LoopWorld, step } from "./testing/loop-world.ts";

const A = "Where is the first line?";
const B = "Where is the last line?";
const asks = { tool_calls: [A, B].map((question) => ({ tool: "explore", parameters: { question, where: "." } })) };

function explorer(question: string, answer: string): object[] {
  return [
    { match: { user: question }, ...calls("read_file", { path: "lib/x.txt" }), delay_ms: 200 },
    { match: { user: question, tool: "read_file" }, text: answer },
  ];
}

test("several questions of one answer are explored side by side, with tools that read, each in its own context", async () => {
  await using world = new LoopWorld();
  world.commit({ "lib/x.txt": "first\nlast\n" });
  world.script(
    ...explorer(A, "In lib/x.txt, line 1."),
    ...explorer(B, "In lib/x.txt, line 2."),
    { match: { user: "Decide" }, ...asks },
    { match: { tool: "explore", result: "line 2." }, ...calls("record_strategy", { steps: [FIX] }) },
    step("fix", calls("explore", { question: B })),
    step("fix", { match: { tool: "explore" }, ...calls("write_file", { path: "y.txt", content: "y\n" }) }),
    step("fix", { match: { tool: "write_file" }, text: "Done." }),
  );
  const output = await world.run("find them");
  expect(output).toMatchObject({ outcome: "executed", answer: "Done.", cost: { spentUsd: 0 } });
  const { planId } = output as { planId: string };
  const main = await world.shown(planId, "strategy.2");
  expect(main.messages.filter(({ role }) => role === "tool").map((message) => message.output)).toEqual([
    "In lib/x.txt, line 1.",
    "In lib/x.txt, line 2.",
  ]);
  expect(JSON.stringify(main.messages)).not.toContain("1→first");
  const aside = await world.shown(planId, "strategy/1");
  const names = aside.tools.map(({ name }) => name);
  expect(names).toContain("read_file");
  expect(names).not.toContain("explore");
  expect(names).not.toContain("write_file");
  expect(names).not.toContain("ask_user");
  expect(aside.messages).toHaveLength(1);
  // Both were asked before one of them was answered.
  const asked = world.events.flatMap((event, index) =>
    event.type === "ask_started" && event.key.endsWith("/1") && event.step === "strategy" ? [index] : [],
  );
  const answered = world.events.findIndex((event) => event.type === "ask_answered" && event.key.endsWith("/1"));
  expect(asked).toHaveLength(2);
  expect(Math.max(...asked)).toBeLessThan(answered);
  const shown = world.events.flatMap((event) => (event.type === "tool_ended" ? [`${event.tool} ${event.target}`] : []));
  expect(shown).toContain(`explore ${A}`);
  const { decisionIds } = await (await world.agents()).run("plan.tree", { plan: planId });
  expect(Object.keys(decisionIds)).toEqual(expect.arrayContaining(["strategy/4", "fix.1", "fix.1/2", "fix.2"]));
});

test("a plan that was stopped in an exploration continues in it, and asks nothing twice", async () => {
  await using world = new LoopWorld();
  world.commit({ "lib/x.txt": "first\nlast\n" });
  const [readA = {}, saidA = {}] = explorer(A, "Line 1.");
  const [readB = {}, saidB = {}] = explorer(B, "Line 2.");
  const decides = { match: { user: "Decide" }, ...asks };
  world.script(readA, saidA, readB, decides);
  await expect(world.run("find them")).rejects.toThrow("no turn left");
  // Answers that were given before are not in the script any more.
  const last = { match: { tool: "explore", result: "Line 2." }, ...calls("record_strategy", { answer: "Found." }) };
  const never = { match: { user: "never" }, text: "never" };
  world.script(never, never, never, saidB, last);
  await world.restart();
  const asked = world.events.filter(({ type }) => type === "ask_answered").length;
  expect(await world.run("", { continue: true })).toMatchObject({ answer: "Found." });
  expect(world.events.filter(({ type }) => type === "ask_answered").length - asked).toBe(2);
});
