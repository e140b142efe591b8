import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { matching, TOO_SLOW } from "../../domain/text/patient-match.ts";
import { shown } from "../../domain/text/text.ts";
import { ModelError, callStoppedError } from "../models/model-error.ts";
import type { ModelCall, ModelMessage } from "../models/model.ts";
import { CONFIGURED_TRANSCRIPT, type Provider } from "../providers/providers.ts";
import type { Answered } from "../providers/answer-stream.ts";
import type { RetryPatience } from "../providers/retry.ts";
import { parseTranscript, type MatchField, type Pattern, type Transcript, type Turn } from "./transcript.ts";

/**
 * A model whose answers are written down beforehand. The answer depends on the messages of the call and on nothing
 * else, so that a run that was killed and resumed, in another process, gets the same ones:
 *
 * - Of the turns that fit, the first one in the file answers that is not used up.
 * - A turn is used up when it has answered `times` times (once, unless it says otherwise) in this conversation; that is
 *   read off the
 *   assistant messages of the call: by the ids of their tool calls, or by their text if they have none.
 * - A failure leaves no message. The first try of a call fails by the first failing turn that fits, the next try goes
 *   on from there; once a
 *   later turn has answered in the conversation, a failing turn is past.
 */
export class Transcripts {
  readonly #directory: string;
  readonly #loaded = new Map<string, Transcript>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async answer(call: ModelCall, provider: Provider, attempt: number, sleep: RetryPatience["sleep"]): Promise<Answered> {
    const transcript = this.#load(call, provider);
    const { turn, position, use } = chosenTurn(transcript, call, attempt);
    if (turn.delayMs > 0) await waited(turn.delayMs, call, sleep);
    for (const piece of pieces(turn.thought)) call.onThought?.(piece);
    for (const piece of pieces(turn.text)) call.onText?.(piece);
    if (turn.error !== undefined) {
      throw new ModelError(turn.error, `The transcript ${transcript.file} says ${turn.error} (turn ${position + 1}).`, {
        model: call.model,
        usage: { ...turn.usage, estimated: false },
      });
    }
    const toolCalls = turn.toolCalls.map(({ tool, params }, index) => ({
      id: callId(position, use, index),
      tool,
      params,
      raw: JSON.stringify(params),
    }));
    const finish = toolCalls.length > 0 ? "tool_calls" : "stop";
    return { text: turn.text, toolCalls, usage: { ...turn.usage, estimated: false }, finish };
  }

  #load({ model }: ModelCall, provider: Provider): Transcript {
    const named = model.model === CONFIGURED_TRANSCRIPT ? provider.transcript : model.model;
    if (named === undefined || named === "") {
      throw new ConfigurationError(`The provider ${provider.name} has no transcript.`, {
        next: [nextStep("config.set", { key: `provider.${provider.name}.transcript`, value: "<file>" })],
      });
    }
    const file = resolve(this.#directory, named);
    let transcript = this.#loaded.get(file);
    if (transcript === undefined) {
      transcript = parseTranscript(readTranscript(file), file);
      this.#loaded.set(file, transcript);
    }
    return transcript;
  }
}

interface Chosen {
  readonly turn: Turn;
  readonly position: number;
  /** How often it had answered before in this conversation. */
  readonly use: number;
}

function chosenTurn(transcript: Transcript, call: ModelCall, attempt: number): Chosen {
  const uses = usesIn(call.messages, transcript.turns);
  for (let tried = 1; ; tried += 1) {
    const position = transcript.turns.findIndex(
      (turn, index) => (uses[index] ?? 0) < turn.times && fits(turn, call, transcript.file),
    );
    const turn = transcript.turns[position];
    if (turn === undefined) throw noTurnError(transcript, call);
    const use = uses[position] ?? 0;
    uses[position] = use + 1;
    if (tried >= attempt || turn.error === undefined) return { turn, position, use };
  }
}

/** How often each turn has answered already, as the messages show. */
function usesIn(messages: readonly ModelMessage[], turns: readonly Turn[]): number[] {
  const uses = turns.map(() => 0);
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    const [first] = message.toolCalls;
    const position =
      first === undefined
        ? turns.findIndex((turn, index) => isSaid(turn, message.content) && (uses[index] ?? 0) < turn.times)
        : turnOfCall(first.id);
    if (position === undefined || turns[position] === undefined) continue;
    uses[position] = (uses[position] ?? 0) + 1;
  }
  const latest = uses.findLastIndex((use) => use > 0);
  return uses.map((use, index) =>
    index < latest && turns[index]?.error !== undefined ? Number.POSITIVE_INFINITY : use,
  );
}

function isSaid(turn: Turn, content: string): boolean {
  return turn.toolCalls.length === 0 && turn.error === undefined && turn.text === content;
}

function callId(position: number, use: number, index: number): string {
  return `scripted-${position + 1}-${use + 1}-${index + 1}`;
}

function turnOfCall(id: string): number | undefined {
  const [, position] = /^scripted-(\d+)-\d+-\d+$/.exec(id) ?? [];
  return position === undefined ? undefined : Number(position) - 1;
}

function fits(turn: Turn, call: ModelCall, file: string): boolean {
  const last = call.messages.at(-1);
  const result = last?.role === "tool" ? last : undefined;
  const texts: Record<MatchField, string | undefined> = {
    system: call.system,
    user: call.messages.findLast((message) => message.role === "user")?.content,
    tool: result?.tool,
    result: result === undefined ? undefined : asText(result),
  };
  return Object.entries(turn.match).every(([field, pattern]) => {
    const text = texts[field as MatchField];
    return text !== undefined && found(pattern, text, file);
  });
}

function found(pattern: Pattern, text: string, file: string): boolean {
  if (typeof pattern === "string") return text.includes(pattern);
  const matched = matching(pattern, [text]);
  if (matched !== undefined) return matched.length > 0;
  throw new ConfigurationError(`The expression ${pattern} of the transcript ${file} ${TOO_SLOW}.`, {
    next: [{ text: `correct ${file}` }],
  });
}

function asText({ output }: Extract<ModelMessage, { role: "tool" }>): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}

function noTurnError({ file }: Transcript, call: ModelCall): ConfigurationError {
  const last = call.messages.at(-1);
  const said =
    last === undefined
      ? "none"
      : last.role === "tool"
        ? `the result of ${last.tool}, ${shown(asText(last), 200)}`
        : `by the ${last.role}, ${shown(last.content, 200)}`;
  return new ConfigurationError(
    `The transcript ${file} has no turn left that fits this call; its last message is ${said}.`,
    {
      kept: "Nothing changed; earlier steps are kept.",
      next: [{ text: `add a turn to ${file} that fits, or give one more "times"` }],
      detail: { transcript: file, messages: call.messages.length },
    },
  );
}

function readTranscript(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(`The transcript ${file} cannot be read: ${why}.`, {
      kept: "Nothing was changed.",
      next: [{ text: "check its path" }, nextStep("config.get", { key: "provider.scripted.transcript" })],
    });
  }
}

async function waited(milliseconds: number, call: ModelCall, sleep: RetryPatience["sleep"]): Promise<void> {
  try {
    await sleep(milliseconds, call.signal);
  } catch (error) {
    if (!call.signal.aborted) throw error;
    throw callStoppedError(call.model);
  }
}

/** Word by word, as a model writes. */
function pieces(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+|\s+$/g) ?? [];
}
