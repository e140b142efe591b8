/**
 * The editor on the other end of the connection, as one session sees it: what it can do, how it is told something, and
 * how it is asked. It may be any program, so no answer of it is taken for a yes unless it is one of the offered ways.
 */
import type * as acp from "@agentclientprotocol/sdk";

export type Update = acp.SessionUpdate;

/** The part of the protocol library that is used here; it is loaded when the agent is started. */
export type Protocol = Pick<typeof acp, "methods" | "RequestError">;

/** The abilities of the editor that make a difference here. */
export interface EditorAbilities {
  /** It can show a form. */
  readonly forms: boolean;
  /** It shows notices apart from the conversation. */
  readonly notices: boolean;
}

export function abilitiesOf(capabilities: acp.ClientCapabilities | undefined): EditorAbilities {
  return {
    forms: capabilities?.elicitation?.form != null,
    notices: capabilities?.session?.notices != null,
  };
}

/** One way to answer; the first is the yes. */
export interface Way {
  readonly id: string;
  readonly name: string;
  readonly kind: acp.PermissionOptionKind;
}

export interface PermissionWish {
  readonly title: string;
  readonly kind: acp.ToolKind;
  readonly content: acp.ToolCallContent[];
  readonly locations?: acp.ToolCallLocation[];
  readonly ways: readonly Way[];
}

export class EditorClient {
  readonly #context: acp.AgentContext;
  readonly #protocol: Protocol;
  readonly #sessionId: string;
  readonly #log: (text: string) => void;
  readonly abilities: EditorAbilities;
  #asked = 0;

  constructor(parts: {
    readonly context: acp.AgentContext;
    readonly protocol: Protocol;
    readonly sessionId: string;
    readonly abilities: EditorAbilities;
    readonly log: (text: string) => void;
  }) {
    this.#context = parts.context;
    this.#protocol = parts.protocol;
    this.#sessionId = parts.sessionId;
    this.#log = parts.log;
    this.abilities = parts.abilities;
  }

  /** Updates arrive in the order in which they are told; an editor that went away hears nothing. */
  readonly send = (update: Update): void => {
    const { update: method } = this.#protocol.methods.client.session;
    this.#context.notify(method, { sessionId: this.#sessionId, update }).catch(() => undefined);
  };

  readonly say = (text: string): void => {
    if (text !== "") this.send({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  };

  readonly think = (text: string): void => {
    if (text !== "") this.send({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } });
  };

  /** A sentence about the work, which is not a part of the answer. */
  readonly notice = (level: "info" | "warning", text: string): void => {
    if (this.abilities.notices) this.send({ sessionUpdate: "notice", severity: level, title: text });
    else if (level === "warning") this.say(`\n\n> **Warning:** ${text}\n\n`);
    else this.think(`${text}\n`);
  };

  /** The id of the chosen way; undefined when the person chose none, the prompt was cancelled or the editor failed. */
  async permission(wish: PermissionWish, signal: AbortSignal): Promise<string | undefined> {
    this.#asked += 1;
    const { title, kind, content, locations = [], ways } = wish;
    const toolCallId = `question-${process.pid}-${this.#asked}`;
    const toolCall = { toolCallId, title, kind, status: "pending", content, locations } as const;
    this.send({ sessionUpdate: "tool_call", ...toolCall });
    const chosen = await this.#answered(
      "request_permission",
      this.#context.request(
        this.#protocol.methods.client.session.requestPermission,
        {
          sessionId: this.#sessionId,
          toolCall,
          options: ways.map(({ id: optionId, name, kind: wayKind }) => ({ optionId, name, kind: wayKind })),
        },
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      ),
    );
    const id = signal.aborted ? undefined : chosenWay(chosen, ways);
    const agreed = ways.find((way) => way.id === id)?.kind.startsWith("allow") === true;
    this.send({ sessionUpdate: "tool_call_update", toolCallId, status: agreed ? "completed" : "failed" });
    return id;
  }

  /** The values that the person filled in; undefined when there is no answer. */
  async form(
    message: string,
    requestedSchema: acp.ElicitationSchema,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    const answer = await this.#answered(
      "elicitation/create",
      this.#context.request(
        this.#protocol.methods.client.elicitation.create,
        { sessionId: this.#sessionId, mode: "form", message, requestedSchema },
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      ),
    );
    if (signal.aborted || !isRecord(answer) || answer["action"] !== "accept") return undefined;
    const { content } = answer;
    return isRecord(content) ? content : undefined;
  }

  /** An editor that answers with an error, or went away, has given no answer. */
  async #answered(method: string, request: Promise<unknown>): Promise<unknown> {
    try {
      return await request;
    } catch (error) {
      this.#log(`${method} got no answer: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }
}

function chosenWay(answer: unknown, ways: readonly Way[]): string | undefined {
  if (!isRecord(answer) || !isRecord(answer["outcome"])) return undefined;
  const { outcome, optionId } = answer["outcome"];
  return outcome === "selected" ? ways.find(({ id }) => id === optionId)?.id : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function text(content: string): acp.ToolCallContent {
  return { type: "content", content: { type: "text", text: content } };
}
