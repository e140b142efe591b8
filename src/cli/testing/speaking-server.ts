/** A model server on loopback that answers as a test says: it streams in OpenAI's format and counts its questions. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Question {
  /** The newest request of the user, without the messages that followed it. */
  readonly user: string;
  /** The tools that were called since. */
  readonly results: readonly string[];
}

export interface Answer {
  readonly text?: string;
  readonly call?: { readonly tool: string; readonly parameters: object };
}

/** Undefined: the callback has written the response itself. */
export type Answering = (question: Question, response: ServerResponse) => Answer | undefined;

interface Body {
  readonly messages: readonly {
    readonly role: string;
    readonly content?: string;
    readonly tool_calls?: readonly { readonly function: { readonly name: string } }[];
  }[];
}

export class SpeakingServer implements AsyncDisposable {
  readonly asked: string[] = [];
  answering: Answering;
  readonly #server: Server = createServer((request, response) => void this.#take(request, response));

  constructor(answering: Answering) {
    this.answering = answering;
  }

  /** The address to configure. */
  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    // It has no list of models and tells nothing about one, and says so at once.
    if (request.url?.endsWith("/chat/completions") !== true) return void response.writeHead(404).end();
    const { messages } = JSON.parse(body) as Body;
    const asked = lastTask(messages);
    const calls = messages.slice(asked + 1).flatMap(({ tool_calls: made = [] }) => made);
    const { content: user = "" } = messages[asked] ?? {};
    const question = { user, results: calls.map((call) => call.function.name) };
    this.asked.push(question.user);
    const answer = this.answering(question, response);
    if (answer !== undefined) speak(response, answer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

function lastTask(messages: Body["messages"]): number {
  const isOfUser = ({ role }: Body["messages"][number]): boolean => role === "user";
  const task = messages.findLastIndex(
    (message) => isOfUser(message) && /^(?:Decide how this is done|Carry out the step)/m.test(message.content ?? ""),
  );
  return task === -1 ? messages.findLastIndex(isOfUser) : task;
}

/** As a short call may have; of a longer one the caller does not believe so little, and counts. */
const USAGE = { prompt_tokens: 300, completion_tokens: 10, total_tokens: 310 };

export function speak(response: ServerResponse, { text: content = "", call }: Answer): void {
  const made = call === undefined ? {} : { tool_calls: [toolCall(call)] };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk({ choices: [{ index: 0, delta: { role: "assistant", content, ...made } }] }));
  const finish = call === undefined ? "stop" : "tool_calls";
  response.end(`${chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }], usage: USAGE })}data: [DONE]\n\n`);
}

export function chunk(part: object): string {
  return `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", ...part })}\n\n`;
}

function toolCall({ tool, parameters }: NonNullable<Answer["call"]>): object {
  return {
    index: 0,
    id: "call-1",
    type: "function",
    function: { name: tool, arguments: JSON.stringify(parameters) },
  };
}
