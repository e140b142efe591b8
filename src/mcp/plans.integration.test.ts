/** Plans by the official client of the protocol, in both of its versions. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { calls, FIX, LoopWorld, step, strategy } from "../app/testing/loop-world.ts";
import { git } from "../testing/git-repository.ts";
import { clientOn, ERAS } from "./testing/plan-client.ts";

const TURNS = [
  strategy(FIX),
  step("fix", { match: { tool: "write_file" }, text: "It is there." }),
  step("fix", calls("write_file", { path: "b.txt", content: "new\n" })),
];
const SUPERVISED = { automationProfile: "supervised", actor: undefined, budget: undefined };
const TRUSTED = { ...SUPERVISED, automationProfile: "trusted" };

function world(...turns: readonly object[]): LoopWorld {
  const made = new LoopWorld();
  made.script(...(turns.length === 0 ? TURNS : turns));
  return made;
}

const read = (loop: LoopWorld, path: string): string => readFileSync(join(loop.repository, path), "utf8");

describe.each(ERAS)("%s", (era) => {
  test("request, wait, diff, apply and undo", async () => {
    await using loop = world();
    await using agent = await clientOn(loop, { era }, { options: SUPERVISED });
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["run", "plan_wait", "plan_diff", "plan_apply", "plan_undo", "context_pack"]),
    );
    const begun = await agent.call("run", { request: "write b.txt" });
    expect(begun.data).toMatchObject({ plan_id: expect.any(String) });
    const plan = begun.data["plan_id"];
    const strategic = await agent.call("plan_wait", { plan, timeout_seconds: 20 });
    expect(strategic.data).toMatchObject({ standing: "waiting for you", timed_out: false });
    const done = await agent.call("plan_execute", { plan, wait_seconds: 20 });
    expect(done.data).toMatchObject({ standing: "ready to review", answer: "It is there.", timed_out: false });
    const { data: diff } = await agent.call("plan_diff", { plan });
    expect(diff).toMatchObject({ plan_id: plan, patch: expect.stringContaining("+new") });
    expect(existsSync(join(loop.repository, "b.txt"))).toBe(false);
    const unasked = await agent.call("plan_apply", { plan });
    expect(unasked).toMatchObject({ isError: true, error: { code: "approval_needed" } });
    expect(unasked.text).toMatch(/Apply 1 file \(\+1 −0\)\?\n.*b\.txt/);
    const approve = { plan, approve: true, expected_version: diff["version"] };
    expect((await agent.call("plan_apply", approve)).data).toMatchObject({ applied: true, state: "applied" });
    expect(read(loop, "b.txt")).toBe("new\n");
    const { data: applied } = await agent.call("plan_status", { plan });
    const undo = { plan, approve: true, expected_version: applied["version"] };
    expect((await agent.call("plan_undo", undo)).data).toMatchObject({ undone: true });
    expect(existsSync(join(loop.repository, "b.txt"))).toBe(false);
    expect(git(loop.repository, "status", "--porcelain")).toBe("");
  });

  test("a stale yes is refused, says what changed, and applies nothing", async () => {
    await using loop = world(
      ...TURNS.slice(0, 1),
      step("follow-up-1", { match: { tool: "write_file" }, text: "More." }),
      step("follow-up-1", calls("write_file", { path: "c.txt", content: "unseen\n" })),
      ...TURNS.slice(1),
    );
    await using agent = await clientOn(loop, { era }, { options: TRUSTED });
    const { plan_id: plan } = (await agent.call("run", { request: "write b.txt", wait_seconds: 20 })).data;
    const { version } = (await agent.call("plan_diff", { plan })).data;
    await agent.call("plan_prompt", { plan, text: "more of it" });
    expect((await agent.call("plan_execute", { plan, wait_seconds: 20 })).data).toMatchObject({
      standing: "ready to review",
    });
    const stale = await agent.call("plan_apply", { plan, approve: true, expected_version: version });
    expect(stale).toMatchObject({ isError: true, error: { code: "conflict", kept: "Nothing was changed." } });
    expect(stale.text).toMatch(/has changed since version \d+: it is now at version \d+, ready to review.*2 recorded/);
    expect(existsSync(join(loop.repository, "b.txt"))).toBe(false);
  });

  test("the user says yes or no in a form of the client", async () => {
    await using loop = world();
    const asked: string[] = [];
    const answers = [{ action: "decline" as const }, { action: "accept" as const, content: { approve: true } }];
    const onForm = (message: string) => {
      asked.push(message);
      return answers.shift() ?? { action: "accept" as const, content: { approve: false } };
    };
    await using agent = await clientOn(loop, { era, onForm }, { options: TRUSTED });
    const { plan_id: plan } = (await agent.call("run", { request: "write b.txt", wait_seconds: 20 })).data;
    const refused = await agent.call("plan_apply", { plan });
    expect(refused).toMatchObject({ isError: true, error: { message: "The user said no." } });
    expect((await agent.call("plan_apply", { plan })).data).toMatchObject({ applied: true });
    expect(asked[1]).toMatch(/write b\.txt\nApply 1 file \(\+1 −0\)\?\n.*b\.txt/);
    expect(read(loop, "b.txt")).toBe("new\n");
    expect(await agent.call("plan_undo", { plan })).toMatchObject({ isError: true });
    expect(read(loop, "b.txt")).toBe("new\n");
  });
});
