/** Agent programs are driven by the Agent Client Protocol, well-behaved ones and others. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { strictServer, type StrictServer } from "../testing/strict-server.ts";
import type { WireAnswer, WireRequest } from "../testing/wires/wire.ts";
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import type { AgentSurroundings, OutsideAgent } from "./agent-port.ts";
import { outsideAgents } from "./outside-agents.ts";
import { PlainPlace, tinyActor } from "./testing/plain-start.ts";

type Answers = readonly WireAnswer[];

let server: StrictServer;
/** The model's answers, by the number of answers it has given in this conversation. */
let answers: Answers = [];
let asked: WireRequest[] = [];

beforeAll(async () => {
  server = await strictServer({
    script: (request) => {
      asked.push(request);
      const given = request.messages.filter(({ role }) => role === "assistant").length;
      return answers[given] ?? { text: "Done." };
    },
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const calls = (...made: (readonly [string, Record<string, unknown>])[]): WireAnswer => ({
  calls: made.map(([name, input]) => ({ name, input: input as Record<string, string> })),
});

const limits = { startMs: 20_000, cancelMs: 1_000 };

async function opened(
  place: PlainPlace,
  actor: AcpActorDefinition = tinyActor("openai-chat"),
  more: Partial<AgentSurroundings> = {},
  given = limits,
): Promise<OutsideAgent> {
  asked = [];
  const gateway = { url: server.url, token: "token-of-the-run", model: "m" };
  const open = outsideAgents({ settings: new Map(), environment: process.env }, given);
  return open(place.surroundings(actor, gateway, more));
}

const never = new AbortController().signal;

test.each(["anthropic", "openai-chat", "openai-responses", "gemini"])(
  "a turn in the dialect %s: tools are told of in order, and the last message is the result",
  async (dialect) => {
    using place = new PlainPlace();
    answers = [
      calls(["write", { path: "a.txt", content: "one" }], ["run", { command: "cat a.txt" }]),
      calls(["plan", { items: ["first", "second"] }]),
      { text: "All is done." },
    ];
    await using agent = await opened(place, tinyActor(dialect, {}, { mode: "trust" }));
    expect(agent.facts).toEqual({ name: "tiny-agent", version: "1.0.0", protocol: "acp 1" });
    expect(await agent.turn("write it", never)).toEqual({ reason: "done", text: "All is done." });
    expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe("one");
    expect(place.listener.news).toEqual([
      "tool write a.txt (edit) pending",
      "tool write a.txt (edit) completed",
      "tool run cat a.txt (execute) pending",
      "tool run cat a.txt (execute) completed",
      "tool plan  (other) pending",
      "plan first: open, second: open",
      "tool plan  (other) completed",
      "text All is done.",
    ]);
    expect(JSON.stringify(asked.at(-1)?.messages)).toMatch(/exit 0\\+none/);
  },
);

test("permission is asked under our names and given for once only", async () => {
  using place = new PlainPlace();
  answers = [calls(["write", { path: "a.txt", content: "one" }], ["run", { command: "true" }]), { text: "ok" }];
  await using agent = await opened(place, tinyActor("openai-chat", {}, { mode: "ask" }));
  await agent.turn("go", never);
  expect(place.listener.permissions).toEqual([
    { id: "call-1", tool: "write_file", title: "write a.txt", params: { path: "a.txt", content: "one" } },
    { id: "call-2", tool: "shell_execute", title: "run true", params: { command: "true" } },
  ]);
  expect(existsSync(join(place.cwd, "a.txt"))).toBe(true);
});

test("a refused permission leaves the file alone, a cancelled one ends the turn", async () => {
  using place = new PlainPlace();
  answers = [calls(["write", { path: "a.txt", content: "one" }]), { text: "ok" }];
  await using agent = await opened(place, tinyActor("openai-chat", {}, { mode: "ask" }));
  place.listener.answer = "reject";
  expect(await agent.turn("go", never)).toMatchObject({ reason: "done" });
  place.listener.answer = "cancel";
  answers = [];
  answers = [
    calls(["write", { path: "a.txt", content: "1" }]),
    { text: "" },
    calls(["write", { path: "a.txt", content: "2" }]),
  ];
  expect(await agent.turn("again", never)).toMatchObject({ reason: "cancelled" });
  expect(existsSync(join(place.cwd, "a.txt"))).toBe(false);
});

test("a mode that the agent does not have is an error that names those it has", async () => {
  using place = new PlainPlace();
  await expect(opened(place, tinyActor("openai-chat", {}, { mode: "yolo" }))).rejects.toThrow(
    'it has no mode "yolo"; it has ask, trust',
  );
  await place.pipes?.ended;
});

test("a system prompt is given to the session, or stands in front of the first prompt", async () => {
  for (const variables of [{}, { TINY_PLAIN: "1" }]) {
    using place = new PlainPlace();
    answers = [];
    await using agent = await opened(place, tinyActor("openai-chat", variables, { system_prompt: "Be brief." }));
    await agent.turn("hello", never);
    expect(JSON.stringify(asked[0]?.messages)).toContain("Be brief.\\n\\nhello");
  }
});

test("an agent that takes its endpoint by the protocol gets the gateway and the token", async () => {
  using place = new PlainPlace();
  answers = [];
  const actor = tinyActor(
    "openai-chat",
    { TINY_PROVIDERS: "1", TINY_URL: "", TINY_TOKEN: "" },
    { endpoint: "providers" },
  );
  await using agent = await opened(place, actor);
  expect(await agent.turn("hello", never)).toMatchObject({ reason: "done" });
  expect(asked[0]?.headers["authorization"]).toBe("Bearer token-of-the-run");
});

test("a cancelled turn ends, and the next one works", async () => {
  using place = new PlainPlace();
  answers = [calls(["hang", {}]), { text: "back" }, { text: "again" }];
  await using agent = await opened(place);
  const stop = new AbortController();
  const turn = agent.turn("go", stop.signal);
  await expect.poll(() => place.listener.news.length).toBeGreaterThan(0);
  stop.abort();
  expect(await turn).toMatchObject({ reason: "cancelled" });
  expect(await agent.turn("go on", never)).toEqual({ reason: "done", text: "back" });
});

test("an agent that does not hear a cancel is killed after a grace", async () => {
  using place = new PlainPlace();
  answers = [calls(["hang", {}])];
  await using agent = await opened(place, tinyActor("openai-chat", { TINY_DEAF: "1" }));
  const stop = new AbortController();
  const turn = agent.turn("go", stop.signal);
  await expect.poll(() => place.listener.news.length).toBeGreaterThan(0);
  stop.abort();
  expect(await turn).toMatchObject({ reason: "cancelled" });
  expect(await place.pipes?.ended).toEqual({ code: 137 });
  expect(await agent.turn("again", never)).toMatchObject({ reason: "failed" });
});

test("an agent that dies in the middle is a failed turn with the end of its errors", async () => {
  using place = new PlainPlace();
  answers = [calls(["die", { code: 7 }])];
  await using agent = await opened(place);
  const end = await agent.turn("go", never);
  expect(end).toMatchObject({
    reason: "failed",
    error: expect.stringContaining("it ended with the code 7"),
  });
  expect(end).toMatchObject({ error: expect.stringContaining("told to die") });
});

test("a model that refuses is a failed turn with the reason", async () => {
  using place = new PlainPlace();
  answers = [{ status: 402, message: "the budget is used up" }];
  await using agent = await opened(place);
  const end = await agent.turn("go", never);
  expect(end).toMatchObject({ reason: "failed", error: expect.stringContaining("402") });
});

test.each([
  ["die", /ended with the code 3[^]*cannot start/],
  ["garbage", /something that is not the protocol/],
  ["flood", /more than 33554432 bytes/],
  ["hang", /did not answer initialize within 0.5 seconds/],
])("an agent that does not start but can only %s is an error, and nothing of it is left", async (how, message) => {
  using place = new PlainPlace();
  const given = how === "hang" ? { startMs: 500, cancelMs: 100 } : limits;
  await expect(opened(place, tinyActor("openai-chat", { TINY_START: how }), {}, given)).rejects.toThrow(message);
  await place.pipes?.ended;
});

test("noise between the messages is skipped, and a flood of text is kept in bounds", async () => {
  using place = new PlainPlace();
  answers = [calls(["garbage", { text: "warning: {not json" }], ["flood", { megabytes: 5 }]), { text: "still here" }];
  await using agent = await opened(place);
  expect(await agent.turn("go", never)).toEqual({ reason: "done", text: "still here" });
});

test("a program that is not installed is an error that says so", async () => {
  using place = new PlainPlace();
  const own = tinyActor("openai-chat");
  if (own.program.agent !== undefined) throw new Error("has a recipe");
  const actor = { ...own, program: { ...own.program, command: ["no-such-agent-anywhere"] } };
  await expect(opened(place, actor)).rejects.toThrow('The program "no-such-agent-anywhere"');
});
