/** Messages as agents really send them: fields are missing, and kinds are unknown. */
import { expect, test } from "vitest";
import { answerPermission } from "./permission-requests.ts";
import { chooseMode } from "./session-mode.ts";
import { offeredServers, sessionCapabilities } from "./session-setup.ts";
import { SessionUpdates } from "./session-updates.ts";
import { HeardNews, PlainPlace, tinyActor } from "./testing/plain-start.ts";

const never = new AbortController().signal;
const ONCE = [
  { optionId: "a", name: "", kind: "allow_always" },
  { optionId: "b", name: "", kind: "allow_once" },
  { optionId: "c", name: "", kind: "reject_once" },
];

test("a permission is asked for although the agent sends no input, and is named by kind, name or title", async () => {
  const heard = new HeardNews();
  const ask = (toolCall: object, options: object[] = ONCE): Promise<unknown> =>
    answerPermission({ sessionId: "s", toolCall: { toolCallId: "1", ...toolCall }, options }, heard, never);
  const locations = [{ path: "/x/a.txt" }];
  expect(await ask({ kind: "edit", title: "Writing", locations })).toEqual({
    outcome: { outcome: "selected", optionId: "b" },
  });
  await ask({ kind: "other", title: "Do it", name: "own_tool" });
  await ask({ rawInput: ["odd"] });
  expect(heard.permissions).toEqual([
    { id: "1", tool: "write_file", title: "Writing", params: { locations: ["/x/a.txt"] } },
    { id: "1", tool: "own_tool", title: "Do it", params: {} },
    { id: "1", tool: "1", title: "1", params: {} },
  ]);
  heard.answer = "reject";
  expect(await ask({})).toEqual({ outcome: { outcome: "selected", optionId: "c" } });
  // An option that allows always is never chosen.
  heard.answer = "allow";
  expect(await ask({}, ONCE.slice(0, 1))).toEqual({ outcome: { outcome: "cancelled" } });
  expect(await answerPermission({ odd: true }, heard, never)).toEqual({ outcome: { outcome: "cancelled" } });
});

test("a permission that waits is cancelled with its turn", async () => {
  const heard = new HeardNews();
  heard.permission = () => new Promise(() => undefined);
  const stop = new AbortController();
  const answer = answerPermission({ toolCall: { toolCallId: "1" }, options: ONCE }, heard, stop.signal);
  stop.abort();
  expect(await answer).toEqual({ outcome: { outcome: "cancelled" } });
});

test("capabilities are read one by one", () => {
  const http = { mcpCapabilities: { http: true } };
  expect(sessionCapabilities(undefined, 1)).toEqual({ systemPrompt: false, httpServers: false });
  expect(sessionCapabilities({ ...http, sessionCapabilities: { list: {} } }, 1)).toEqual({
    systemPrompt: false,
    httpServers: true,
  });
  expect(sessionCapabilities({ sessionCapabilities: { systemPrompt: {} } }, 1)).toEqual({
    systemPrompt: true,
    httpServers: false,
  });
});

test("tools of ours are offered by HTTP, and an agent that cannot use those it was given is refused", () => {
  using place = new PlainPlace();
  const gateway = { url: "http://127.0.0.1:9", token: "t", model: "m" };
  const toolServers = [{ name: "ours", url: "http://127.0.0.1:9/mcp", headers: { authorization: "x" } }];
  const actor = tinyActor("openai-chat", {}, { tools: ["request_context"] });
  const surroundings = place.surroundings(actor, gateway, { toolServers });
  expect(offeredServers(surroundings, { systemPrompt: false, httpServers: true })).toEqual([
    { type: "http", name: "ours", url: "http://127.0.0.1:9/mcp", headers: [{ name: "authorization", value: "x" }] },
  ]);
  expect(() => offeredServers(surroundings, { systemPrompt: false, httpServers: false })).toThrow("takes no servers");
  const plain = place.surroundings(tinyActor("openai-chat"), gateway, { toolServers });
  expect(offeredServers(plain, { systemPrompt: false, httpServers: false })).toEqual([]);
});

type Sent = readonly [string, unknown];

function agentThat(answer: unknown): { sent: Sent[]; agent: Parameters<typeof chooseMode>[0] } {
  const sent: Sent[] = [];
  const request = async (method: string, params: unknown): Promise<unknown> => {
    sent.push([method, params]);
    return answer;
  };
  return { sent, agent: { request } as unknown as Parameters<typeof chooseMode>[0] };
}

test("a mode among the options is set and checked, beside options of other kinds", async () => {
  const options = [{ value: "ask" }, { options: [{ value: "trust" }] }];
  const mode = { id: "m", category: "mode", currentValue: "ask", options };
  const session = { sessionId: "s", configOptions: [{ id: "fast", type: "boolean" }, mode] };
  const { sent, agent } = agentThat({ configOptions: [{ ...mode, currentValue: "trust" }] });
  await chooseMode(agent, session, "ask", () => undefined);
  expect(sent).toEqual([]);
  await chooseMode(agent, session, "trust", () => undefined);
  expect(sent).toEqual([["session/set_config_option", { sessionId: "s", configId: "m", value: "trust" }]]);
  await expect(chooseMode(agent, session, "none", () => undefined)).rejects.toThrow("it has ask, trust");
  const deaf = agentThat({ configOptions: [mode] });
  await expect(chooseMode(deaf.agent, session, "trust", () => undefined)).rejects.toThrow('its mode is "ask"');
  await expect(chooseMode(agent, { sessionId: "s" }, "trust", () => undefined)).rejects.toThrow("has no modes");
  const modes = { currentModeId: "a", availableModes: [{ id: "a" }, { id: "b" }] };
  await expect(chooseMode(agent, { sessionId: "s", modes }, "b", () => "a")).rejects.toThrow('its mode is "a"');
});

test("unknown notices are left out, and plans and thoughts are told", () => {
  const heard = new HeardNews();
  const updates = new SessionUpdates(heard);
  const take = (update: object): void => updates.take({ sessionId: "s", update });
  take({ sessionUpdate: "usage_update", used: 1 });
  take({ sessionUpdate: "agent_message_chunk", content: { type: "image" } });
  take({ sessionUpdate: "tool_call_update", toolCallId: "1", status: "strange" });
  take({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } });
  const entries = ["pending", "in_progress", "completed"].map((status) => ({ content: status, status }));
  take({ sessionUpdate: "plan", entries });
  expect(heard.news).toEqual([
    "tool  (other) pending",
    "thought hm",
    "plan pending: open, in_progress: doing, completed: done",
  ]);
});
