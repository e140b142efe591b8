/**
 * A model on loopback that plays one task with whichever agent asks: it finds out from the conversation how far the
 * task is, and answers with the next action as a call of that agent's tools. An action whose result says that it was
 * not carried out is asked for again. So an agent that lost its conversation begins again, and one that kept it
 * continues.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { anthropicWire } from "../src/actors/testing/wires/anthropic.ts";
import { chatWire } from "../src/actors/testing/wires/chat.ts";
import { geminiWire } from "../src/actors/testing/wires/gemini.ts";
import { PromptCache } from "../src/actors/testing/wires/prompt-cache.ts";
import { responsesWire } from "../src/actors/testing/wires/responses.ts";
import {
  event,
  type Wire,
  type WireMemory,
  type WireMessage,
  type WireName,
} from "../src/actors/testing/wires/wire.ts";
import type { JsonObject } from "../src/domain/values/json.ts";
import { readPrompt, type Prompt } from "./agent-prompts.ts";
import type { Action, Task } from "./agent-tasks.ts";

export interface ToolCall {
  readonly name: string;
  /** A tool whose parameter is plain text has it under `freeform`. */
  readonly input: JsonObject;
}

/** The tools of one agent. */
export interface Speech {
  readonly callFor: (action: Action) => ToolCall;
  /** Whether the result of anything but a command says that the call was not carried out. */
  readonly isFailure: (result: string) => boolean;
  /** Of an agent that wants its plan recorded before it changes anything: that call, once. */
  readonly decide?: (task: Task) => ToolCall;
}

export interface Exchange {
  readonly prompt: Prompt;
  /** Written as the provider bills it. */
  readonly answer: string;
  /** How many actions were done; undefined for a request that is not part of the work, such as one for a title. */
  readonly done: number | undefined;
  readonly decided: boolean;
}

interface Play {
  readonly task: Task;
  readonly speech: Speech;
  /** How long the model takes for an answer. */
  readonly thinkMs?: number;
  /** Told when the answer with this action was sent. */
  readonly onAction?: (index: number) => void;
}

export interface ScriptedModel extends AsyncDisposable {
  readonly url: string;
  /** The next requests belong to this; returns their log, which grows. */
  readonly play: (play: Play) => readonly Exchange[];
}

const WIRE: Readonly<Record<WireName, Wire>> = {
  anthropic: anthropicWire,
  chat: chatWire,
  gemini: geminiWire,
  responses: responsesWire,
};
const SAME_FAILURES = 3;
const CHARACTERS_PER_TOKEN = 4;

export async function scriptedModel(): Promise<ScriptedModel> {
  let playing: { readonly play: Play; readonly log: Exchange[] } | undefined;
  let ids = 0;
  const memory: WireMemory = {
    issued: new Map(),
    cache: new PromptCache((text) => text.length),
    next: (prefix) => `${prefix}${String((ids += 1)).padStart(6, "0")}`,
  };
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(Buffer.from(chunk));
      const prompt = readPrompt(request.url ?? "", Buffer.concat(chunks).toString("utf8"));
      if (prompt === undefined || playing === undefined) response.writeHead(404).end("{}");
      else {
        const { thinkMs = 0 } = playing.play;
        if (thinkMs > 0) await sleep(thinkMs);
        answer(prompt, playing, { memory, response });
      }
    })().catch((error: unknown) => response.writeHead(500).end(JSON.stringify({ error: String(error) })));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    play: (play) => {
      const log: Exchange[] = [];
      playing = { play, log };
      return log;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(
  prompt: Prompt,
  { play, log }: { readonly play: Play; readonly log: Exchange[] },
  { memory, response }: { readonly memory: WireMemory; readonly response: ServerResponse },
): void {
  const turn = prompt.tools === 0 && !hasTools(prompt) ? { text: "A title" } : nextTurn(play, prompt.messages);
  const { call, text = "" } = turn;
  const written = call === undefined ? text : `${call.name} ${JSON.stringify(call.input)}`;
  log.push({ prompt, answer: written, done: turn.done, decided: turn.decided ?? false });
  // An estimate: the exact count is made afterwards, and not in the time of the agent.
  const input = Math.ceil(prompt.pieces.reduce((sum, one) => sum + one.text.length, 0) / CHARACTERS_PER_TOKEN);
  const usage = { input, cacheRead: 0, cacheWrite: 0, output: Math.ceil(written.length / CHARACTERS_PER_TOKEN) };
  response.writeHead(200, { "content-type": "text/event-stream" });
  const about = { model: prompt.model, usage, memory };
  const freeform = call?.input["freeform"];
  if (call !== undefined && typeof freeform === "string") {
    const [first = "", ...rest] = WIRE[prompt.wire].write({}, about);
    const ids = { id: memory.next("ctc_"), call_id: memory.next("call_") };
    const item = { type: "custom_tool_call", ...ids, name: call.name, input: freeform, status: "completed" };
    response.end([first, event({ type: "response.output_item.done", output_index: 0, item }), ...rest].join(""));
  } else {
    const said = call === undefined ? { text } : { calls: [call] };
    response.end(WIRE[prompt.wire].write(said, about).join(""));
  }
  if (turn.action !== undefined) play.onAction?.(turn.action);
}

/** Some models of Codex get their tools as part of the conversation. */
function hasTools({ pieces }: Prompt): boolean {
  return pieces.some(({ part }) => part === "tools");
}

interface Turn {
  readonly call?: ToolCall;
  readonly text?: string;
  readonly done?: number;
  readonly decided?: boolean;
  /** The index of the action that is asked for. */
  readonly action?: number;
}

function nextTurn({ task, speech }: Play, messages: readonly WireMessage[]): Turn {
  const { done, failures, decided, lastCall } = progress(task, speech, messages);
  const action = task.actions[done];
  const at = { done, decided };
  const mustDecide = speech.decide !== undefined && !decided;
  if (mustDecide && (action === undefined || action.does === "edit" || action.does === "run"))
    return { ...at, call: speech.decide(task) };
  if (action === undefined) return { ...at, text: task.summary };
  if (failures >= SAME_FAILURES) return { ...at, text: `I cannot go on: ${JSON.stringify(action)} fails.` };
  const call = speech.callFor(action);
  if (failures === 0 || action.does !== "edit") return { ...at, call, action: done };
  // As a model would: read the file again, then try again.
  const look = speech.callFor({ does: "read", path: action.path });
  return isDeepStrictEqual(lastCall, look) ? { ...at, call, action: done } : { ...at, call: look };
}

function progress(
  task: Task,
  speech: Speech,
  messages: readonly WireMessage[],
): { done: number; failures: number; decided: boolean; lastCall: ToolCall | undefined } {
  const decision = speech.decide?.(task).name;
  let [done, failures, decided] = [0, 0, false];
  let lastCall: ToolCall | undefined;
  for (const [index, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    for (const { id, name, input } of message.calls) {
      lastCall = { name, input };
      if (name === decision) decided = true;
      const action = task.actions[done];
      if (action === undefined || !isDeepStrictEqual(lastCall, speech.callFor(action))) continue;
      const result = messages.slice(index).find((one) => one.role === "tool" && one.callId === id);
      const text = result?.role === "tool" ? result.text : undefined;
      const carriedOut =
        text !== undefined && (action.does === "run" ? text.includes(action.shows) : !speech.isFailure(text));
      if (carriedOut) [done, failures] = [done + 1, 0];
      else failures += 1;
    }
  }
  return { done, failures, decided, lastCall };
}
