/** Models that answer badly, not at all, or too late; and plans of models that are taken back. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { stepTurn, strategyTurn, ThinkingWorld, turn } from "./testing/thinking-world.ts";

const ONE = [{ id: "one", description: "Write one.txt" }];
const TWO = [...ONE, { id: "two", description: "Write two.txt", needs: ["one"] }];

function writes(step: string, path: string): string {
  return (
    stepTurn(step, { tool_calls: [{ tool: "write_file", parameters: { path, content: `${step}\n` } }] }) +
    stepTurn(step, { match: { tool: "write_file" }, text: `${path} is there.` })
  );
}

async function files({ agents }: ThinkingWorld, id: string): Promise<string[]> {
  const { data } = await agents.json("plan", "diff", id);
  return (data["files"] as { path: string }[]).map(({ path }) => path);
}

test("a model that makes no strategy is the error, as it answered; told to go on, it is asked again", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  const id = await world.thinking();
  world.script(turn({ text: "I would rather not.", times: "always" }));
  const failed = await agents.json("plan", "execute", id);
  expect(failed).toMatchObject({
    exit_code: 1,
    error: {
      code: "STUCK",
      message: expect.stringContaining('It answered: "I would rather not."'),
      suggestions: expect.arrayContaining([`agents plan execute ${id}`]),
    },
  });
  expect((await agents.json("plan", "status", id)).data).toMatchObject({
    phase: "strategize",
    state: "errored",
    usage: { model_calls: 2 },
  });
  // The two answers that were recorded are not asked for again, but new ones are.
  world.script(strategyTurn(ONE, { match: { user: "You did not call record_strategy" } }), writes("one", "one.txt"));
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect(await files(world, id)).toEqual(["one.txt"]);
  expect((await agents.json("plan", "status", id)).data["usage"]).toMatchObject({ model_calls: 5 });
});

test("a model that fails in a step stops the plan with its own error; what was done before is kept, and goes on", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  const id = await world.thinking();
  const first = [strategyTurn(TWO), writes("one", "one.txt")];
  world.script(...first, stepTurn("two", { error: "authentication", times: "always" }));
  const failed = await agents.json("plan", "execute", id);
  expect(failed.error).toMatchObject({
    code: "MODEL_AUTHENTICATION",
    message: expect.stringContaining("says authentication"),
    suggestions: expect.arrayContaining([`agents plan execute ${id}`]),
  });
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ phase: "execute", state: "errored" });
  expect(await files(world, id)).toEqual(["one.txt"]);
  // A model that does nothing but talk is reminded, and stopped.
  world.script(
    ...first,
    stepTurn("two", { text: "It is all done already.", times: "always" }),
    turn({ text: "Really." }),
  );
  expect((await agents.json("plan", "execute", id)).error).toMatchObject({
    code: "STUCK",
    message: expect.stringContaining("Really."),
  });
  world.script(
    ...first,
    turn({
      match: { user: "You called no tool" },
      tool_calls: [{ tool: "write_file", parameters: { path: "two.txt", content: "2" } }],
    }),
    turn({ text: "Now it is." }),
  );
  const executed = await agents.json("plan", "execute", id);
  expect(executed.data["steps"]).toMatchObject([
    { id: "one", status: "recorded" },
    { id: "two", status: "done" },
  ]);
  expect(await files(world, id)).toEqual(["one.txt", "two.txt"]);
});

test("Ctrl-C while a model takes its time stops cleanly; the plan goes on where it was", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  const id = await world.thinking();
  world.script(strategyTurn(TWO, { delay_ms: 600_000 }));
  const deciding = agents.start(["plan", "execute", id]);
  while (!(await agents.run(["plan", "status", id])).stdout.includes("worked on by")) await sleep(20);
  await sleep(3_000);
  deciding.child.kill("SIGINT");
  expect((await deciding.finished).stderr).toContain("was interrupted");
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ phase: "strategize", error: null });
  world.script(strategyTurn(TWO), writes("one", "one.txt"), stepTurn("two", { text: "…", delay_ms: 600_000 }));
  const { child, finished } = agents.start(["plan", "execute", id]);
  let shown = "";
  child.stderr.on("data", (text: string) => (shown += text));
  while (!shown.includes("started  two")) await sleep(20);
  await sleep(100);
  child.kill("SIGINT");
  const { code, stderr } = await finished;
  expect(code).not.toBe(0);
  expect(stderr).toContain(`agents plan execute ${id}`);
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ phase: "execute", error: null });
  // The turns that have answered stand where they stood, and would do something else if they were asked again.
  world.script(strategyTurn([]), writes("one", "other.txt"), writes("two", "two.txt"));
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect(await files(world, id)).toEqual(["one.txt", "two.txt"]);
});

test("after a rollback to a checkpoint within a step, the model decides again what comes after it", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  const id = await world.thinking();
  const write = (path: string): object => ({ tool: "write_file", parameters: { path, content: "x" } });
  const beginning = [strategyTurn(TWO), stepTurn("one", { tool_calls: [write("a1"), write("a2")] })];
  world.script(
    ...beginning,
    stepTurn("one", { match: { tool: "write_file" }, tool_calls: [write("a3")] }),
    stepTurn("one", { match: { tool: "write_file" }, text: "done" }),
    writes("two", "b1"),
  );
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect(await files(world, id)).toEqual(["a1", "a2", "a3", "b1"]);
  const list = await agents.json("plan", "rollback", id);
  const checkpoints = list.data["checkpoints"] as { id: string; after_step: string | null }[];
  expect(checkpoints.map(({ after_step: step }) => step)).toEqual([null, "one/1.1", "one/1.2", "one/2.1", "two/1.1"]);
  const before = (await agents.json("plan", "tree", id)).data["decision_ids"] as Record<string, string>;
  const rolled = await agents.json("plan", "rollback", id, String(checkpoints[1]?.id), "--yes");
  expect(rolled.exit_code).toBe(0);
  expect(await files(world, id)).toEqual(["a1"]);
  // The answer that asked for the kept call stands, and is not asked for again; the call behind it is made again.
  world.script(
    strategyTurn([]),
    stepTurn("one", { match: { user: "never" }, tool_calls: [write("never")] }),
    stepTurn("one", { match: { tool: "write_file" }, text: "done differently" }),
    stepTurn("two", { tool_calls: [write("b2")] }),
    stepTurn("two", { match: { tool: "write_file" }, text: "done" }),
  );
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect(await files(world, id)).toEqual(["a1", "a2", "b2"]);
  const after = (await agents.json("plan", "tree", id)).data["decision_ids"] as Record<string, string>;
  expect(after["one.1"]).toBe(before["one.1"]);
  expect(after["one"]).toBe(before["one"]);
  const kept = await agents.json("plan", "explain", String(after["one.1"]));
  expect(kept.data["tool_calls"]).toMatchObject([{ superseded: false }, { superseded: true }, { superseded: false }]);
  expect([after["one.2"], after["two"]]).not.toEqual([before["one.2"], before["two"]]);
  expect((await agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
  expect(readFileSync(join(world.repository, "b2"), "utf8")).toBe("x");
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});
