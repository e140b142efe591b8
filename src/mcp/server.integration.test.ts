/** The server on two streams: what it offers, where it works, how much it says, and clients that do harm. */
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { calls, FIX, LoopWorld, step, strategy } from "../app/testing/loop-world.ts";
import { shortened } from "./shortened.ts";
import { clientOn, ERAS, servedOn } from "./testing/plan-client.ts";

const TRUSTED = { automationProfile: "trusted", actor: undefined, budget: "2.50" };
const SLOW = { ...step("fix", { text: "." }), times: "always", delay_ms: 60_000 };

function world(content = "new\n"): LoopWorld {
  const made = new LoopWorld();
  made.script(
    strategy(FIX),
    step("fix", { match: { tool: "write_file" }, text: "It is there." }),
    step("fix", calls("write_file", { path: "b.txt", content })),
  );
  return made;
}

describe.each(ERAS)("%s", (era) => {
  test("plans are resources: their status, their diff, and nothing else", async () => {
    await using loop = world();
    const { planId } = await loop.run("write b.txt");
    await using agent = await clientOn(loop, { era });
    const { resources } = await agent.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([`plan://${planId}/status`, `plan://${planId}/diff`]);
    const { resourceTemplates } = await agent.client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(["plan://{id}/status", "plan://{id}/diff"]);
    const text = async (uri: string): Promise<unknown> => (await agent.client.readResource({ uri })).contents[0];
    expect(await text(`plan://${planId}/diff`)).toMatchObject({ text: expect.stringContaining("+new") });
    expect(await text(`plan://${planId}/status`)).toMatchObject({ text: expect.stringContaining('"plan_id"') });
    for (const uri of [`plan://${planId}/secrets`, "plan://01JABCDE/diff", "file:///etc/passwd"])
      await expect(agent.client.readResource({ uri })).rejects.toThrow(/not found/i);
  });

  test("the directory of a call, of the client's first root, or of the server", async () => {
    await using loop = world();
    const elsewhere = join(loop.directory, "elsewhere");
    mkdirSync(elsewhere);
    const roots = ["file://elsewhere/shop", pathToFileURL(loop.repository).href];
    await using rooted = await clientOn(loop, { era, roots }, { directory: elsewhere, options: TRUSTED });
    const done = await rooted.call("run", { request: "write b.txt", wait_seconds: 20 });
    expect(done.data).toMatchObject({ standing: "ready to review", cost: { cap_usd: 2.5 } });
    expect((await rooted.call("plan_list", { here: true })).data).toMatchObject({ summary: { total: 1 } });
    expect((await rooted.call("plan_list", { here: true, directory: elsewhere })).data).toMatchObject({
      summary: { total: 0 },
    });
    for (const [directory, problem] of [
      ["shop", "is not an absolute path"],
      [join(loop.directory, "nowhere"), "does not exist"],
      [join(loop.repository, "a.txt"), "is not a directory"],
    ])
      expect(await rooted.call("plan_list", { directory })).toMatchObject({
        isError: true,
        text: expect.stringContaining(String(problem)),
      });
    await using rootless = await clientOn(loop, { era, roots: [] }, { directory: elsewhere });
    expect((await rootless.call("run", { request: "write b.txt" })).text).toContain("is not in a git repository");
    await using unplaced = await clientOn(loop, { era }, { directory: undefined });
    expect((await unplaced.call("run", { request: "write b.txt" })).text).toMatch(/^error usage: directory: /);
    expect((await unplaced.client.listResources()).resources).toHaveLength(2);
  });

  test("a plan is worked on while other calls are answered, by one call at a time, and progress is told", async () => {
    await using loop = world();
    loop.script(strategy(FIX), SLOW);
    await using agent = await clientOn(loop, { era }, { options: TRUSTED });
    const lines: (string | undefined)[] = [];
    const seen = Promise.withResolvers<void>();
    const running = agent.call("run", { request: "wait", wait_seconds: 60 }, (line) => {
      lines.push(line);
      if (line === "step fix: Fix it") seen.resolve();
    });
    await seen.promise;
    expect(lines[0]).toBe("asking scripted/transcript");
    const { plan_id: plan, standing } = (await agent.call("plan_status")).data;
    expect(standing).toBe("working");
    const second = await agent.call("plan_execute", { plan });
    expect(second).toMatchObject({ isError: true, error: { code: "conflict", kept: "The work goes on." } });
    expect(second.text).toContain(`next: plan_wait {"plan":"${String(plan)}"}`);
    const wait = await agent.call("plan_wait", { timeout_seconds: 0.1 });
    expect(wait.data).toMatchObject({ plan_id: plan, timed_out: true });
    // Another process sees the same by the store alone.
    await using other = await clientOn(loop, { era });
    expect((await other.call("plan_wait", { plan, timeout_seconds: 0.4 })).data).toMatchObject({ timed_out: true });
    const cancel = await agent.call("plan_cancel", { plan });
    expect(cancel.text).toContain("Stop the plan for good?");
    const { version } = cancel.error["detail"] as { version: number };
    const cancelled = await agent.call("plan_cancel", { plan, approve: true, expected_version: version });
    expect(cancelled.data).toMatchObject({ state: "cancelled" });
    const ended = await agent.call("plan_wait", { plan, timeout_seconds: 20 });
    expect(ended.data).toMatchObject({ standing: "cancelled", timed_out: false });
    expect(ended.text).toContain("The work ended: error ");
    expect((await running).data).toMatchObject({ plan_id: plan, standing: "cancelled" });
  });

  test("a server that only reads has no tool that changes anything", async () => {
    await using loop = world();
    await using agent = await clientOn(loop, { era }, { readOnly: true });
    const { tools } = await agent.client.listTools();
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["plan_status", "plan_wait", "plan_diff"]));
    for (const name of ["run", "plan_apply", "plan_undo", "plan_prompt"])
      await expect(agent.call(name, { plan: "1" })).rejects.toThrow(`There is no tool "${name}"`);
  });

  test("a long diff is cut, and says how to get the rest", async () => {
    await using loop = world("a line of some length\n".repeat(4_000));
    const { planId } = await loop.run("write b.txt");
    await using agent = await clientOn(loop, { era });
    const { data, text } = await agent.call("plan_diff", { plan: planId });
    expect(String(data["patch"]).length).toBeLessThanOrEqual(40_000);
    expect(text).toMatch(/Cut \(patch: \d+ of \d{5,} characters\)\. .* agents plan diff /);
    const { error } = await agent.call("plan_explain", { id: planId, decision: "nothing" });
    expect(error).toMatchObject({ code: "not_found" });
  });
});

test("wrong calls cost themselves: unknown tools, unknown and wrong arguments, and a yes without a version", async () => {
  await using loop = world();
  const { planId } = await loop.run("write b.txt");
  await using agent = await clientOn(loop);
  await expect(agent.call("plan_destroy")).rejects.toThrow('There is no tool "plan_destroy"');
  const wrong = await agent.call("plan_apply", { plan: planId, expected_version: "newest" });
  expect(wrong).toMatchObject({ isError: true, text: expect.stringMatching(/^error usage: expected_version: /) });
  expect((await agent.call("plan_apply", { approve: true })).text).toMatch(/^error usage: plan: /);
  expect((await agent.call("plan_apply", { plan: planId, verify: false })).text).toContain('"verify"');
  expect((await agent.call("plan_list", { regex: "a\0" })).text).toMatch(/^error usage: An argument has .*NUL/);
  const blind = await agent.call("plan_apply", { plan: planId, approve: true });
  expect(blind.text).toContain("Give expected_version");
  expect((await agent.call("plan_status", { plan: planId })).data).toMatchObject({ standing: "ready to review" });
  // A checkpoint list asks for nothing.
  const { data } = await agent.call("plan_rollback", { plan: planId });
  expect(data).toMatchObject({ checkpoints: [{}, {}], next_steps: [expect.stringContaining("plan_rollback {")] });
  const failed = await agent.call("run", { request: " " });
  expect(failed).toMatchObject({ isError: true, error: { message: "Say what you want done." } });
});

test("lines that are not the protocol, and a message that is too long, cost themselves", async () => {
  await using loop = world();
  await using served = servedOn(loop);
  const answers: unknown[] = [];
  served.output.on("data", (chunk: Buffer) => {
    for (const line of chunk.toString("utf8").trim().split("\n")) answers.push(JSON.parse(line));
  });
  const until = async (count: number): Promise<void> => {
    while (answers.length < count) await once(served.output, "data");
  };
  const send = (line: string): unknown => served.input.write(`${line}\n`);
  send("this is not JSON");
  send('{"jsonrpc":"2.0"}');
  const opening = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "hostile", version: "1" } };
  send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: opening }));
  await until(1);
  const half = "x".repeat(3 * 1024 * 1024);
  served.input.write(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"${half}`);
  send(`${half}"}}`);
  await until(2);
  expect(answers[1]).toMatchObject({ id: null, error: { code: -32_600 } });
  send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/roots/list_changed" }));
  send(JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "plan_list", arguments: [] } }));
  send(JSON.stringify({ jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "plan_list" } }));
  await until(4);
  expect(answers.find((one) => (one as { id: unknown }).id === 4)).toMatchObject({
    result: { structuredContent: { plans: [] } },
  });
  expect(answers.find((one) => (one as { id: unknown }).id === 3)).toMatchObject({ error: {} });
  served.input.end("the end of a line");
  await served.ended;
});

test("a list is ended early, and names are never cut", () => {
  const entry = { id: "x".repeat(300), text: "y\n".repeat(30_000) };
  const { value, cut } = shortened({ entries: Array.from({ length: 10 }, () => entry), note: null, total: 10 });
  const { entries } = value as { entries: (typeof entry)[] };
  expect(entries.length).toBeLessThan(10);
  expect(entries.every(({ id }) => id === entry.id)).toBe(true);
  expect(cut.at(-1)).toBe(`entries: ${entries.length} of 10 entries`);
  expect(shortened({ text: "z".repeat(50_000) }).cut).toEqual(["text: 40000 of 50000 characters"]);
});

test("the texts of the table are those of the tools", async () => {
  await using loop = world();
  await using agent = await clientOn(loop);
  const { tools } = await agent.client.listTools();
  const apply = tools.find(({ name }) => name === "plan_apply");
  expect(apply?.description).toMatch(/^Apply a plan's changes to its resources.*Needs the user's yes/);
  expect(apply?.inputSchema).toMatchObject({ required: ["plan"], additionalProperties: false });
  expect(Object.keys(apply?.inputSchema.properties ?? {})).toEqual([
    "plan",
    "accepted",
    "allow_empty",
    "expected_version",
    "directory",
    "approve",
  ]);
  const page = readFileSync(join(import.meta.dirname, "../../docs/mcp.md"), "utf8");
  expect(tools.filter(({ name }) => !page.includes(`\`${name}\``)).map(({ name }) => name)).toEqual([]);
});
