/** Agent programs that speak version 2 of the Agent Client Protocol, by the official library, or choose a version. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { strictServer, type StrictServer } from "../testing/strict-server.ts";
import type { WireAnswer } from "../testing/wires/wire.ts";
import type { AgentSurroundings, OutsideAgent } from "./agent-port.ts";
import { outsideAgents } from "./outside-agents.ts";
import { PlainPlace, TINY_2, tinyActor } from "./testing/plain-start.ts";

let server: StrictServer;
/** The model's answers, by the number of answers it has given in this conversation. */
let answers: readonly WireAnswer[] = [];
beforeAll(async () => {
  server = await strictServer({
    script: ({ messages }) => answers[messages.filter(({ role }) => role === "assistant").length] ?? { text: "Done." },
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const call = (name: string, input: Record<string, string>): WireAnswer => ({ calls: [{ name, input }] });
const never = new AbortController().signal;

async function opened(
  place: PlainPlace,
  variables: Readonly<Record<string, string>> = {},
  more: Readonly<Record<string, unknown>> = {},
  surroundings: Partial<AgentSurroundings> = {},
): Promise<OutsideAgent> {
  const gateway = { url: server.url, token: "token-of-the-run", model: "m" };
  const open = outsideAgents({ settings: new Map(), environment: process.env }, { startMs: 20_000, cancelMs: 1_000 });
  const command = [process.execPath, TINY_2];
  const actor = tinyActor("openai-chat", { TINY_VERSIONS: "2", ...variables }, { command, ...more });
  return open(place.surroundings(actor, gateway, surroundings));
}

test("an agent that speaks only version 2 is asked for it after version 1, and its turn lasts until it is idle", async () => {
  using place = new PlainPlace();
  answers = [call("write", { path: "a.txt", content: "one" }), { text: "All is done." }];
  await using agent = await opened(place, { TINY_STALE: "1" }, { mode: "trust" });
  expect(agent.facts).toEqual({ name: "tiny-agent-2", version: "2.0.0", protocol: "acp 2" });
  expect(await agent.turn("write it", never)).toEqual({ reason: "done", text: "All is done." });
  expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe("one");
  expect(place.listener.news).toEqual([
    "plan all of it: doing",
    "tool write a.txt (edit) in_progress",
    "tool write a.txt (edit) completed",
    "text All is done.",
  ]);
  // The stale idle state before the work of the second turn is not its end.
  expect(await agent.turn("once more", never)).toEqual({ reason: "done", text: "Done." });
});

test("an agent that speaks both is asked for what its actor says, and one that speaks 1 only answers 1", async () => {
  for (const [versions, protocol, spoken] of [
    ["1+2", undefined, "acp 1"],
    ["1+2", 2, "acp 2"],
  ] as const) {
    using place = new PlainPlace();
    const opening = opened(place, { TINY_VERSIONS: versions }, protocol === undefined ? {} : { protocol });
    if (spoken === "acp 1") await expect(opening).rejects.toThrow(/Method not found.*session\/new/);
    else expect((await opening).facts.protocol).toBe(spoken);
  }
  using place = new PlainPlace();
  const gateway = { url: server.url, token: "t", model: "m" };
  const actor = tinyActor("openai-chat", {}, { protocol: 2 });
  await using agent = await outsideAgents({ settings: new Map(), environment: process.env })(
    place.surroundings(actor, gateway),
  );
  expect(agent.facts).toMatchObject({ name: "tiny-agent", protocol: "acp 1" });
});

test("permissions have a subject: a call of a tool or a command, under our names", async () => {
  using place = new PlainPlace();
  answers = [call("write", { path: "a.txt", content: "one" }), call("run", { command: "touch b.txt" }), { text: "ok" }];
  await using agent = await opened(place, {}, { mode: "ask" });
  expect(await agent.turn("go", never)).toMatchObject({ reason: "done" });
  expect(place.listener.permissions).toEqual([
    { id: expect.any(String), tool: "write_file", title: "write a.txt", params: { path: "a.txt", content: "one" } },
    {
      id: expect.any(String),
      tool: "shell_execute",
      title: "May I: run touch b.txt?",
      params: { command: "touch b.txt" },
    },
  ]);
  expect(existsSync(join(place.cwd, "b.txt"))).toBe(true);
});

test("a refused permission leaves the file alone", async () => {
  using place = new PlainPlace();
  answers = [call("write", { path: "a.txt", content: "one" }), { text: "ok" }];
  await using agent = await opened(place, {}, { mode: "ask" });
  place.listener.answer = "reject";
  expect(await agent.turn("go", never)).toMatchObject({ reason: "done", text: "ok" });
  expect(existsSync(join(place.cwd, "a.txt"))).toBe(false);
});

test("a cancelled turn ends, one that never becomes idle is killed, and the reason of a failed one is told", async () => {
  using place = new PlainPlace();
  answers = [call("write", { path: "a.txt", content: "one" }), { text: "back" }];
  const waits = { permission: () => new Promise<never>(() => undefined) };
  const stop = new AbortController();
  await using agent = await opened(place, {}, { mode: "ask" }, { listener: Object.assign(place.listener, waits) });
  const turn = agent.turn("go", stop.signal);
  await expect.poll(() => place.listener.news.length).toBeGreaterThan(1);
  stop.abort();
  expect(await turn).toMatchObject({ reason: "cancelled" });
  answers = [{ text: "ok" }];
  using other = new PlainPlace();
  await using busy = await opened(other, { TINY_BUSY: "1" });
  const late = new AbortController();
  const endless = busy.turn("go", late.signal);
  await expect.poll(() => other.listener.news).toContain("text ok");
  late.abort();
  expect(await endless).toMatchObject({ reason: "cancelled" });
  expect(await other.pipes?.ended).toEqual({ code: 137 });
});

test.each([
  ["error", "out of ideas"],
  ["unknown", 'it ended its turn with "_tired"'],
])("a turn that ends with %s is a failed one", async (end, words) => {
  using place = new PlainPlace();
  answers = [{ text: "hm" }];
  await using agent = await opened(place, { TINY_END: end });
  expect(await agent.turn("go", never)).toMatchObject({ reason: "failed", error: expect.stringContaining(words) });
});

test("a mode is an option here, and one that is not offered is an error that names those that are", async () => {
  using place = new PlainPlace();
  await expect(opened(place, {}, { mode: "yolo" })).rejects.toThrow('it has no mode "yolo"; it has ask, trust');
});
