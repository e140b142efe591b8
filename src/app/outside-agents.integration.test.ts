/** Agents of other makers carry out plans: real programs, confined, against a strict model server in four dialects. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { AGENT_DIALECTS } from "../domain/actor/acp-actor.ts";
import { REAL_KEYS } from "./testing/gateway-world.ts";
import { bash, byTurn, OutsideWorld, write } from "./testing/outside-world.ts";

const FORMS = AGENT_DIALECTS.flatMap((dialect) => ["", "stream"].map((habits) => ({ dialect, habits })));

test.each(FORMS)(
  "$dialect $habits: every change is credited to the answer it came from",
  async ({ dialect, habits }) => {
    await using world = await OutsideWorld.open(
      byTurn(
        { text: "First.", calls: [write("b.txt", "b\n")] },
        { calls: [bash("printf 'three\\n' >> a.txt"), write("c/d.txt", "d\n")] },
        { text: "All three files are done." },
      ),
    );
    await world.add({ dialect, habits });
    const done = await world.run("change three files");
    expect(done).toMatchObject({ phase: "execute", state: "complete", answer: "All three files are done." });
    const credits = await world.credits();
    expect(credits.map(({ path, operation, tool, outcome }) => [path, operation, tool, outcome])).toEqual([
      ["b.txt", "create", "acp:helper/write", "ok"],
      ["a.txt", "modify", "acp:helper/bash", "ok"],
      ["c/d.txt", "create", "acp:helper/write", "ok"],
    ]);
    expect(credits.map(({ chosen }) => (JSON.parse(chosen) as { calls: { tool: string }[] }).calls.length)).toEqual([
      1, 2, 2,
    ]);
    expect(new Set(credits.map(({ type }) => type))).toEqual(new Set(["tool_invocation"]));
    expect(world.server.log.map(({ refused }) => refused)).toEqual([undefined, undefined, undefined]);
    const { cost } = done as { cost: { calls: number; spentUsd: number } };
    const used = world.server.log.map(({ usage }) => ((usage?.input ?? 0) * 3 + (usage?.output ?? 0) * 15) / 1_000_000);
    expect(cost.calls).toBe(3);
    expect(cost.spentUsd).toBeCloseTo(
      used.reduce((sum, one) => sum + one),
      9,
    );
  },
);

test("changes that no call explains are credited too: at the start, silently, and by a background process", async () => {
  await using world = await OutsideWorld.open(
    byTurn(
      { calls: [bash("(sleep 0.4; echo late > late.txt) > /dev/null 2>&1 &")] },
      { calls: [bash("sleep 1")] },
      { calls: [write("b.txt", "b\n")] },
    ),
  );
  await world.add({ habits: "start,silent,title" });
  const done = await world.run("change files behind our back");
  expect(done).toMatchObject({ state: "complete", changes: { files: 4 } });
  const credits = await world.credits();
  expect(credits.map(({ path, tool }) => [path, tool])).toEqual([
    ["started.txt", "acp:helper/turn"],
    ["hidden.txt", "acp:helper/bash"],
    ["hidden.txt", "acp:helper/bash"],
    ["late.txt", "acp:helper/bash"],
    ["b.txt", "acp:helper/write"],
    ["hidden.txt", "acp:helper/write"],
  ]);
  const looks = await world.reading((reader) =>
    reader.all<{ result: string }>("SELECT result FROM steps WHERE key LIKE 'once:%-look-%' ORDER BY at, key"),
  );
  const busy = looks.filter(({ result }) => result.includes("while something of an earlier round was still running"));
  expect(busy).toHaveLength(1);
  // The title is billed, and no decision.
  const { calls, decisions } = await world.reading(async (reader) => ({
    calls: await reader.all("SELECT id FROM model_calls"),
    decisions: await reader.all("SELECT id FROM decisions WHERE type IN ('tool_invocation', 'implementation_choice')"),
  }));
  expect([calls.length, decisions.length]).toEqual([5, 4]);
  // The user's repository has the one ref for the base, and neither branches nor worktrees.
  expect(world.refs()).toEqual(["refs/heads/main"]);
});

test("20 questions at once under a cap for 5: 5 go out, and the plan fails for its budget", async () => {
  let refusals: Promise<void> = Promise.resolve();
  await using world = await OutsideWorld.open(async () => {
    await refusals;
    return { text: "x" };
  });
  await world.add({ habits: "crowd", more: "options: { max_output_tokens: 1000 }" });
  await world.run("ask a lot");
  const bound = await world.bound();
  const before = world.server.log.length;
  expect(before).toBe(20);
  // All that are refused are refused while these are open.
  refusals = new Promise((resolve) => setTimeout(resolve, 4_000));
  const budget = ((bound * 5.5) / 1_000_000).toFixed(6);
  await expect(world.run("ask a lot", { budget })).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(world.server.log.length - before).toBe(5);
});

test("an agent that says all is well after it was refused for the budget does not finish its step", async () => {
  await using world = await OutsideWorld.open(byTurn({ calls: [write("b.txt", "b\n")] }, { text: "Done." }));
  await world.add({ habits: "liar", more: "options: { max_output_tokens: 1000 }" });
  await world.run("write b");
  const budget = (((await world.bound()) * 1.001) / 1_000_000).toFixed(6);
  const before = world.server.log.length;
  await expect(world.run("write b", { budget })).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(world.server.log.length - before).toBe(1);
  expect((await world.credits()).map(({ path }) => path)).toEqual(["b.txt", "b.txt"]);
});

test("an agent that says all is well although its last question was not answered does not finish its step", async () => {
  let asked = 0;
  await using world = await OutsideWorld.open((request) => {
    asked += 1;
    return asked === 2 ? { status: 500, message: "out of order" } : byTurn({ calls: [write("b.txt", "b\n")] })(request);
  });
  await world.add({ habits: "liar" });
  const failed = { code: "agent_failed", message: expect.stringContaining("answers 500") as string };
  await expect(world.run("write b")).rejects.toMatchObject(failed);
  const agents = await world.agents();
  const plan = String((await agents.run("plan.list", {})).plans[0]?.planId);
  expect(await agents.run("plan.execute", { plan })).toMatchObject({ state: "complete", answer: "Done." });
  expect(asked).toBe(3);
});

test("an agent that hangs up on a question that it does not need any more has finished", async () => {
  let suggestions = 0;
  await using world = await OutsideWorld.open(async (request) => {
    const aside = JSON.stringify(request.messages).includes("Suggest something.");
    if (aside) suggestions += 1;
    if (!aside) return byTurn({ calls: [write("b.txt", "b\n")] })(request);
    return new Promise((resolve) => setTimeout(() => resolve({ text: "More tests." }), 5_000));
  });
  await world.add({ habits: "leaves" });
  expect(await world.run("write b")).toMatchObject({ state: "complete", answer: "Done." });
  expect(suggestions).toBe(1);
});

test("a secret in a file never reaches the model, real keys are not in the sandbox, and nothing outside is written", async () => {
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  const outside = `/tmp/runtime-outside-${process.pid}.txt`;
  await using world = await OutsideWorld.open(
    byTurn(
      { calls: [bash("cat token.txt; env; ls -a ~")] },
      { calls: [bash(`echo x > ${outside}; echo y > ~/own.txt`)] },
    ),
  );
  world.commit({ "token.txt": `${secret}\n` });
  await world.add();
  await world.run("read everything");
  const sent = JSON.stringify(world.server.log.map(({ body }) => body));
  expect(sent).toContain("[masked: GitHub token]");
  expect(sent).not.toContain(secret);
  for (const key of Object.values(REAL_KEYS)) expect(sent).not.toContain(key);
  expect(existsSync(outside)).toBe(false);
  expect(await world.credits()).toEqual([]);
});
