/**
 * A small agent program for tests that speaks version 2 of the Agent Client Protocol, made with the official library,
 * which checks each message of ours. It asks its model as the tiny agent does, and has two tools: `write` and `run`.
 *
 * Variables: TINY_URL, TINY_TOKEN, TINY_MODEL and TINY_DIALECT as there; TINY_VERSIONS=2 (only that) or 1+2 (it chooses
 * by the version that is asked for, and version 1 can do nothing); TINY_STALE (tells an idle state of earlier work
 * first), TINY_END=error|unknown (how its turns end), TINY_BUSY (never becomes idle).
 *
 * Options: `mode`, with `ask` (asks before `write` and `run`) and `trust`; it begins with `ask`.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import * as acp1 from "@agentclientprotocol/sdk";
import * as acp from "@agentclientprotocol/sdk/experimental/v2";
import { TinyConversation, type TinyTool } from "./tiny-dialects.ts";

const env = process.env;
const on = (name: string): boolean => (env[name] ?? "") !== "";
const sessionId = "tiny";
const text = { type: "string" };
const TOOLS: readonly TinyTool[] = [
  { name: "write", description: "Writes a file", parameters: { type: "object", properties: { path: text } } },
  { name: "run", description: "Runs a command", parameters: { type: "object", properties: { command: text } } },
];

let mode = "ask";
let cwd = "";
let stop = new AbortController();
let count = 0;
const conversation = new TinyConversation({
  dialect: env["TINY_DIALECT"] ?? "openai-chat",
  url: env["TINY_URL"] ?? "",
  token: env["TINY_TOKEN"] ?? "",
  model: env["TINY_MODEL"] ?? "m",
});

const options = (): acp.SessionConfigOption[] => [
  {
    type: "select",
    configId: "mode",
    name: "Mode",
    category: "mode",
    currentValue: mode,
    options: ["ask", "trust"].map((value) => ({ value, name: value })),
  },
];

function update(client: acp.AgentContext, fields: acp.SessionUpdate): Promise<void> {
  return client.notify("session/update", { sessionId, update: fields });
}

async function work(client: acp.AgentContext, prompt: string): Promise<void> {
  const { signal } = stop;
  conversation.say(prompt);
  for (;;) {
    const { text: said, calls } = await conversation.ask(TOOLS, signal);
    count += 1;
    const messageId = `m${count}`;
    const content = { type: "text" as const, text: said };
    if (said !== "") {
      await update(client, { sessionUpdate: "agent_message_chunk", messageId, content });
      await update(client, { sessionUpdate: "agent_message", messageId, content: [content] });
    }
    if (calls.length === 0) return;
    const results: { call: (typeof calls)[number]; text: string }[] = [];
    for (const call of calls) results.push({ call, text: await act(client, call) });
    conversation.answerCalls(results);
    signal.throwIfAborted();
  }
}

async function act(client: acp.AgentContext, { id, name, input }: { id: string; name: string; input: object }) {
  const { path = "", content = "", command = "" } = input as Readonly<Record<string, string>>;
  const about = { toolCallId: id, title: `${name} ${path}${command}`, rawInput: input };
  const kind = name === "write" ? "edit" : "execute";
  await update(client, { sessionUpdate: "tool_call_update", ...about, kind, status: "in_progress" });
  if (mode === "ask" && !(await permitted(client, about, { kind, command }))) {
    await update(client, { sessionUpdate: "tool_call_update", toolCallId: id, status: "failed" });
    return "refused by the user";
  }
  if (name === "write") writeFileSync(resolve(cwd, path), content);
  const done = name === "write" ? "written" : spawnSync("/bin/sh", ["-c", command], { cwd, encoding: "utf8" }).stdout;
  await update(client, { sessionUpdate: "tool_call_update", toolCallId: id, status: "completed" });
  return done;
}

async function permitted(
  client: acp.AgentContext,
  toolCall: { readonly toolCallId: string; readonly title: string; readonly rawInput: object },
  { kind, command }: { readonly kind: string; readonly command: string },
): Promise<boolean> {
  await update(client, { sessionUpdate: "state_update", state: "requires_action" });
  const { outcome } = await client.request("session/request_permission", {
    sessionId,
    title: `May I: ${toolCall.title}?`,
    subject:
      command === ""
        ? { type: "tool_call", toolCall: { ...toolCall, kind } }
        : { type: "command", command, cwd, toolCallId: toolCall.toolCallId },
    options: ["allow_always", "allow_once", "reject_once"].map((one) => ({ optionId: one, name: one, kind: one })),
  });
  await update(client, { sessionUpdate: "state_update", state: "running" });
  if (outcome.outcome === "cancelled") stop.abort();
  return acp.RequestPermissionOutcome.isSelected(outcome) && outcome.optionId.startsWith("allow");
}

async function turn(client: acp.AgentContext, prompt: string): Promise<void> {
  const entries = [{ content: "all of it", priority: "medium" as const, status: "in_progress" as const }];
  await update(client, { sessionUpdate: "plan_update", plan: { type: "items", planId: "p", entries } });
  let end: acp.IdleStateUpdate = { stopReason: "end_turn" };
  try {
    await work(client, prompt);
    if (env["TINY_END"] === "error") end = { stopReason: "error", error: { code: -32603, message: "out of ideas" } };
    if (env["TINY_END"] === "unknown") end = { stopReason: "_tired" };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    end = stop.signal.aborted ? { stopReason: "cancelled" } : { stopReason: "error", error: { code: 1, message } };
  }
  if (!on("TINY_BUSY")) await update(client, { sessionUpdate: "state_update", state: "idle", ...end });
}

const agent = acp
  .agent({ name: "tiny" })
  .onRequest("initialize", () => ({
    protocolVersion: 2,
    info: { name: "tiny-agent-2", version: "2.0.0" },
    capabilities: { session: { mcp: { http: {} } } },
  }))
  .onRequest("session/new", ({ params }) => {
    ({ cwd } = params);
    return { sessionId, configOptions: options() };
  })
  .onRequest("session/set_config_option", ({ params }) => {
    if (params.type === "id") mode = String(params.value);
    return { configOptions: options() };
  })
  .onRequest("session/prompt", async ({ params, client }) => {
    stop = new AbortController();
    const prompt = params.prompt.map((block) => (acp.ContentBlock.isText(block) ? block.text : "")).join("");
    if (on("TINY_STALE"))
      await update(client, { sessionUpdate: "state_update", state: "idle", stopReason: "cancelled" });
    await update(client, { sessionUpdate: "state_update", state: "running" });
    setTimeout(() => void turn(client, prompt), 20);
    return { messageId: `u${params.prompt.length}` };
  })
  .onNotification("session/cancel", () => stop.abort());

const version1 = acp1.agent({ name: "tiny" }).onRequest("initialize", () => ({
  protocolVersion: 1,
  agentInfo: { name: "tiny-agent-1", version: "1.0.0" },
  agentCapabilities: {},
}));

const router = acp.agentProtocolRouter().withV2(agent);
if (env["TINY_VERSIONS"] === "1+2") router.withV1(version1);
router.connect(
  acp.ndJsonStream(
    Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
  ),
);
