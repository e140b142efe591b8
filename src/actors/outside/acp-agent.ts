/**
 * An agent program that speaks the Agent Client Protocol, in the version that both speak. Neither files nor terminals
 * are offered to the program, because it works in its sandbox itself. A program that dies, hangs, floods or answers
 * nonsense is an error or a failed turn, never a wait without end: its end is heard from the operating system, because
 * its output may stay open.
 */
import { finished } from "node:stream/promises";
import * as z from "zod";
import type { ClientConnection, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { isObject } from "../../domain/definition/spelling.ts";
import { maskSecrets } from "../../domain/secrets/redaction.ts";
import { acpStream } from "./acp-stream.ts";
import { agentFailedError } from "./agent-errors.ts";
import type { AgentPipes, AgentSurroundings, OutsideAgent, TurnEnd } from "./agent-port.ts";
import { answerPermission } from "./permission-requests.ts";
import { introduction, type ProtocolVersion } from "./protocol-version.ts";
import { chooseMode } from "./session-mode.ts";
import { offeredServers, sessionCapabilities, setProvider, type AgentCapabilities } from "./session-setup.ts";
import { SessionUpdates } from "./session-updates.ts";
import { TurnState, type WorkEnd } from "./turn-state.ts";

export interface AcpLimits {
  /** Until the program says who it is: large ones take seconds on a busy machine. */
  readonly startMs: number;
  /** From a cancel until the program is killed. */
  readonly cancelMs: number;
}

export const ACP_LIMITS: AcpLimits = { startMs: 90_000, cancelMs: 10_000 };
const LAST_WORDS_MS = 500;
/** Characters of the program's errors that are kept. */
const LONGEST_ERRORS = 8 * 1024;

export interface AcpStart {
  readonly pipes: AgentPipes;
  /** The session mode to work in; undefined for the agent's own. */
  readonly mode: string | undefined;
  /** In that mode it asks for permission before each call that changes something. */
  readonly asks: boolean;
  readonly limits?: AcpLimits;
}

/** Starts a session with a program that runs already. It is killed when that fails. */
export async function openAcpAgent(surroundings: AgentSurroundings, start: AcpStart): Promise<OutsideAgent> {
  const agent = new AcpAgent(surroundings, start);
  try {
    await agent.begin();
    return agent;
  } catch (error) {
    await agent[Symbol.asyncDispose]();
    throw error;
  }
}

/** Only who it is; the program is ended again. */
export async function introducedAgent(
  surroundings: AgentSurroundings,
  start: AcpStart,
): Promise<OutsideAgent["facts"]> {
  await using agent = new AcpAgent(surroundings, start);
  await agent.introduce();
  return agent.facts;
}

class AcpAgent implements OutsideAgent {
  readonly #surroundings: AgentSurroundings;
  readonly #start: AcpStart;
  readonly #limits: AcpLimits;
  readonly #updates: SessionUpdates;
  /** Aborts with the reason when the program can do nothing more for us. */
  readonly #gone = new AbortController();
  #connection: ClientConnection | undefined;
  #errors = "";
  #session = "";
  #version: ProtocolVersion = 1;
  #capabilities: AgentCapabilities = sessionCapabilities(undefined, 1);
  readonly #state = new TurnState();
  #facts: OutsideAgent["facts"] = { name: "?", version: undefined, protocol: "?" };
  /** Aborts when the present turn is to end. */
  #turn: AbortSignal;
  /** Told to an agent that takes no system prompt, with the first prompt. */
  #preface = "";

  constructor(surroundings: AgentSurroundings, start: AcpStart) {
    this.#surroundings = surroundings;
    this.#start = start;
    this.#limits = start.limits ?? ACP_LIMITS;
    this.#updates = new SessionUpdates(surroundings.listener);
    this.#turn = surroundings.signal;
    const { pipes } = start;
    pipes.errors.on("data", (bytes: Buffer) => {
      this.#errors = `${this.#errors}${bytes.toString("utf8")}`.slice(-LONGEST_ERRORS);
    });
    pipes.errors.on("error", () => undefined);
    void this.#untilEnded();
  }

  async #untilEnded(): Promise<void> {
    const { ended, errors } = this.#start.pipes;
    const { code } = await ended;
    // The last of its errors may still be on the way.
    if (!errors.readableEnded) await Promise.race([finished(errors).catch(() => undefined), delay(LAST_WORDS_MS)]);
    this.#lose(`it ended with the code ${code}`);
  }

  get asks(): boolean {
    return this.#start.asks;
  }

  get facts(): OutsideAgent["facts"] {
    return this.#facts;
  }

  /** Who it is, and what it can. */
  async introduce(): Promise<ClientConnection> {
    const connection = await this.#connect();
    const { actor } = this.#surroundings;
    const said = await introduction(connection.agent, actor.protocol, (request) =>
      this.#inTime("initialize", request),
    ).catch((error: unknown) => this.#fail(error));
    this.#version = said.version;
    this.#capabilities = sessionCapabilities(said.capabilities, said.version);
    this.#facts = {
      name: said.info?.name ?? actor.program.agent ?? actor.name,
      version: said.info?.version,
      protocol: `acp ${said.version}`,
    };
    return connection;
  }

  async begin(): Promise<void> {
    const connection = await this.introduce();
    const { agent } = connection;
    await this.#answered("providers/set", setProvider(agent, this.#surroundings));
    const session = await this.#answered("session/new", this.#newSession(connection));
    this.#session = sessionIdOf(session);
    const { mode } = this.#start;
    if (mode !== undefined)
      await this.#answered(
        "session/set_mode",
        chooseMode(agent, session, mode, () => this.#updates.mode),
      );
  }

  async #connect(): Promise<ClientConnection> {
    // Large, and needed only here.
    const { client } = await import("@agentclientprotocol/sdk");
    const stream = acpStream(this.#start.pipes, {
      notice: (method, params) => {
        if (method !== "session/update") return;
        this.#updates.take(params);
        this.#state.take(params);
      },
      ended: () => void delay(this.#limits.cancelMs).then(() => this.#lose("it closed its output")),
      problem: (message) => {
        this.#lose(message);
        this.#start.pipes.kill();
      },
    });
    const { listener } = this.#surroundings;
    this.#connection = client({ name: "cleveragents" })
      // Read by ourselves, because both versions have it and the SDK knows one form here.
      .onRequest<unknown, RequestPermissionResponse>(
        "session/request_permission",
        (params) => params,
        ({ params }) => answerPermission(params, listener, this.#turn),
      )
      .connect(stream);
    return this.#connection;
  }

  #newSession({ agent }: ClientConnection): Promise<unknown> {
    const { cwd, directories, actor } = this.#surroundings;
    const { systemPrompt } = this.#capabilities;
    if (!systemPrompt) this.#preface = actor.systemPrompt;
    return agent.request<unknown, object>("session/new", {
      cwd,
      ...(directories.length === 0 ? {} : { additionalDirectories: [...directories] }),
      mcpServers: offeredServers(this.#surroundings, this.#capabilities),
      ...(systemPrompt && actor.systemPrompt !== ""
        ? { systemPrompt: { mode: "append", content: [{ type: "text", text: actor.systemPrompt }] } }
        : {}),
    });
  }

  async turn(prompt: string, signal: AbortSignal): Promise<TurnEnd> {
    const connection = this.#connection;
    if (connection === undefined) throw new Error("The agent was not started.");
    const told = this.#preface === "" ? prompt : `${this.#preface}\n\n${prompt}`;
    this.#preface = "";
    this.#updates.begin();
    this.#turn = AbortSignal.any([signal, this.#surroundings.signal]);
    try {
      const answer = await this.#orCancelled(this.#prompted(told, connection), connection);
      return answer === undefined ? { reason: "cancelled", text: this.#updates.message } : this.#endOf(answer);
    } catch (error) {
      return { reason: "failed", text: this.#updates.message, error: this.#failure(wordsOf(error)).message };
    }
  }

  /** Version 1 answers when the work has ended; version 2 only says that the prompt was taken. */
  async #prompted(told: string, { agent }: ClientConnection): Promise<WorkEnd> {
    const ended = this.#state.begin();
    const prompt = { sessionId: this.#session, prompt: [{ type: "text", text: told }] };
    const answer = await agent.request<unknown, object>("session/prompt", prompt);
    return this.#version === 1 ? { stopReason: stopReasonOf(answer), error: undefined } : ended;
  }

  /** Undefined when the turn was cancelled and the program did not say so in time. */
  async #orCancelled(request: Promise<WorkEnd>, connection: ClientConnection): Promise<WorkEnd | undefined> {
    const turn = this.#turn;
    const first = await Promise.race([request, this.#end(), aborted(turn)]);
    if (first !== undefined) return first;
    await connection.agent.notify("session/cancel", { sessionId: this.#session }).catch(() => undefined);
    const last = await Promise.race([request, this.#end(), delay(this.#limits.cancelMs)]).catch(() => undefined);
    if (last === undefined) this.#start.pipes.kill();
    // Its answer does not matter: it was told to stop.
    return undefined;
  }

  #endOf({ stopReason, error }: WorkEnd): TurnEnd {
    const text = this.#updates.message;
    switch (stopReason) {
      case "end_turn":
        return { reason: "done", text };
      case "max_tokens":
      case "max_turn_requests":
        return { reason: "limit", text };
      case "refusal":
        return { reason: "refused", text };
      case "cancelled":
        return { reason: "cancelled", text };
      case "error":
        return { reason: "failed", text, error: this.#failure(wordsOf(error ?? "it told no reason")).message };
      default:
        return { reason: "failed", text, error: this.#failure(`it ended its turn with "${stopReason}"`).message };
    }
  }

  async #answered<T>(what: string, request: Promise<T>): Promise<T> {
    return this.#inTime(what, request).catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): never {
    this.#surroundings.signal.throwIfAborted();
    throw this.#failure(wordsOf(error));
  }

  /** The answer, unless the program ends, the caller gives up, or the time is over. */
  async #inTime<T>(what: string, request: Promise<T>): Promise<T> {
    const { signal } = this.#surroundings;
    const late = delay(this.#limits.startMs).then(() => {
      throw new Error(`it did not answer ${what} within ${this.#limits.startMs / 1000} seconds`);
    });
    const stopped = aborted(signal).then(() => {
      throw new Error("it was stopped");
    });
    return Promise.race([request, this.#end(), late, stopped]);
  }

  /** Rejects when the program is gone. */
  async #end(): Promise<never> {
    await aborted(this.#gone.signal);
    throw new Error(String(this.#gone.signal.reason));
  }

  #lose(reason: string): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort(reason);
    this.#connection?.close();
  }

  /** The reason and the end of what the program wrote to its standard error. */
  #failure(message: string): Error {
    const lost = this.#gone.signal.aborted ? String(this.#gone.signal.reason) : message;
    const { token } = this.#surroundings.gateway;
    return agentFailedError(this.#surroundings.actor, lost, maskSecrets(this.#errors, [token]).text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lose("it was ended");
    this.#start.pipes.kill();
    await this.#start.pipes.ended;
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}

/** Keeps no process alive. */
function delay(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined).unref());
}

const LONGEST_DATA = 500;

const SessionId = z.object({ sessionId: z.string() });
const StopReason = z.object({ stopReason: z.string() });

function sessionIdOf(answer: unknown): string {
  const read = SessionId.safeParse(answer);
  if (read.success) return read.data.sessionId;
  throw new Error("it answered session/new without a session");
}

function stopReasonOf(answer: unknown): string {
  return StopReason.safeParse(answer).data?.stopReason ?? "nothing";
}

/** Errors of the protocol carry their reason beside a general message. */
function wordsOf(error: unknown): string {
  if (!isObject(error) || typeof error["message"] !== "string") return String(error);
  const { message } = error;
  const { data } = error;
  if (data === undefined || data === null) return message;
  const details = typeof data === "object" && "details" in data ? data.details : data;
  const text = typeof details === "string" ? details : JSON.stringify(details);
  return `${message}: ${text.slice(0, LONGEST_DATA)}`;
}
