/** `agents plan wait`: until nothing works on a plan, or the time is over. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { FIX, step, strategy } from "../app/testing/loop-world.ts";
import { makeRepository } from "../testing/git-repository.ts";
import { Agents } from "./testing/agents.ts";

test("a plan that nothing works on is shown at once", async () => {
  using agents = new Agents();
  const plan = await agents.withPlan();
  const { exit_code: code, data } = await agents.json("plan", "wait", plan);
  expect([code, data["standing"], data["timed_out"], data["answer"]]).toEqual([0, "not started", false, null]);
  const { stdout } = await agents.run(["plan", "wait", plan, "--timeout", "0"]);
  expect(stdout).toContain("not started");
  expect((await agents.json("plan", "wait", plan, "--timeout", "601")).exit_code).toBe(2);
});

test("a plan that another process works on is waited for, until the time is over or its work stops", async () => {
  using agents = new Agents();
  const cwd = makeRepository(join(agents.directory, "shop"));
  const slow = { ...step("fix", { text: "." }), times: "always", delay_ms: 60_000 };
  const transcript = agents.write("model.yaml", JSON.stringify({ turns: [strategy(FIX), slow] }));
  agents.environment["CLEVERAGENTS_PROVIDER_SCRIPTED_TRANSCRIPT"] = transcript;
  const { child, finished } = agents.start(["run", "fix it", "--automation-profile", "trusted"], { cwd });
  const standing = async (): Promise<unknown> => {
    const { exit_code: code, data } = await agents.json("plan", "status", "1");
    return code === 0 ? data["standing"] : undefined;
  };
  while ((await standing()) !== "working") await sleep(50);
  expect((await agents.run(["plan", "wait", "1", "--timeout", "0.3"])).stdout).toContain("still worked on");
  const waiting = agents.json("plan", "wait", "1", "--timeout", "60");
  child.kill("SIGINT");
  await finished;
  expect((await waiting).data).toMatchObject({ standing: "stopped", timed_out: false });
});
