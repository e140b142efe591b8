/**
 * A model server on loopback that speaks OpenAI's language and counts. Its answer is a function of the question, and
 * the system prompt says which step asks.
 */
import { createHash } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface CountingModel extends AsyncDisposable {
  readonly url: string;
  /** How often each step has asked. */
  readonly asked: ReadonlyMap<string, number>;
  /** Lets the step's next question wait for ever; done when it has come. */
  readonly hold: (step: string) => Promise<void>;
}

interface Question {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export async function countingModel(): Promise<CountingModel> {
  const asked = new Map<string, number>();
  const held = new Map<string, () => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const question = JSON.parse(Buffer.concat(chunks).toString()) as Question;
      const step = question.messages[0]?.content ?? "";
      asked.set(step, (asked.get(step) ?? 0) + 1);
      const come = held.get(step);
      if (held.delete(step)) come?.();
      else answer(question, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    hold: (step) => new Promise((resolve) => held.set(step, resolve)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Uses the first tool it is offered once, and then answers with a digest of everything it was told. */
function answer({ messages, tools }: Question, response: ServerResponse): void {
  const [tool] = tools ?? [];
  const wantsTool = tool !== undefined && !messages.some(({ role }) => role === "tool");
  const digest = createHash("sha256")
    .update(JSON.stringify(messages.slice(1)))
    .digest("hex")
    .slice(0, 12);
  const call = {
    index: 0,
    id: "call-1",
    type: "function",
    function: { name: tool?.function.name, arguments: `{"path":"${digest}"}` },
  };
  const delta = wantsTool ? { role: "assistant", tool_calls: [call] } : { role: "assistant", content: digest };
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (choice: object, more = {}): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", choices: [{ index: 0, ...choice }], ...more })}\n\n`;
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
  const end = chunk({ delta: {}, finish_reason: wantsTool ? "tool_calls" : "stop" }, { usage });
  response.end(`${chunk({ delta, finish_reason: null })}${end}data: [DONE]\n\n`);
}
