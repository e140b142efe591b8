import { expect, test } from "vitest";
import { calls, FIX, LoopWorld, step, strategy } from "./testing/loop-world.ts";

const list = (...states: readonly string[]): { items: { text: string; state: string }[] } => ({
  items: states.map((state, index) => ({ text: `point ${index + 1}`, state })),
});

test("a checklist is told as it changes; when the plan continues only the newest is told, before the next question", async () => {
  await using world = new LoopWorld();
  const begin = [
    strategy(FIX),
    step("fix", calls("update_checklist", list("doing", "open"))),
    step("fix", { match: { tool: "update_checklist" }, ...calls("update_checklist", list("done", "doing")) }),
    step("fix", { match: { tool: "update_checklist" }, ...calls("read_file", { path: "a.txt" }) }),
  ];
  const lists = (): unknown[] => world.events.filter(({ type }) => type === "checklist");
  world.script(...begin);
  await expect(world.run("do it")).rejects.toThrow("no turn left");
  expect(lists()).toEqual([
    { type: "checklist", step: "fix", ...list("doing", "open") },
    { type: "checklist", step: "fix", ...list("done", "doing") },
  ]);
  world.script(...begin, step("fix", { match: { tool: "read_file" }, text: "Nothing to do: done." }));
  await world.restart();
  world.events.length = 0;
  expect(await world.run("", { continue: true })).toMatchObject({ answer: "Nothing to do: done." });
  expect(lists()).toEqual([{ type: "checklist", step: "fix", ...list("done", "doing") }]);
  const kinds = world.events.map(({ type }) => type);
  expect(kinds.indexOf("checklist")).toBeLessThan(kinds.indexOf("ask_started"));
});

test("what a command printed can be read by the name of the answer that ran it", async () => {
  await using world = new LoopWorld();
  const command = "seq 1 9000; echo failed >&2; exit 3";
  world.script(
    strategy(FIX),
    step("fix", calls("shell_execute", { command })),
    step("fix", { match: { tool: "shell_execute" }, text: "Nothing to do: it fails." }),
  );
  const { planId } = (await world.run("try it")) as { planId: string };
  const agents = await world.agents();
  for (const decision of ["fix", "fix.1"]) {
    const { output } = await agents.run("plan.explain", { id: planId, decision, output: true });
    expect(output).toMatch(/^# shell_execute\nexit code 3 \(took .* s\)\n1\n2\n/);
    expect(output).toContain("\n4500\n4501\n");
    expect(output).toMatch(/\n9000\nfailed\n$/);
  }
});
