import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { AddressInfo } from "node:net";

/** A model server that counts what it is asked, and says what the answers used. */
export interface CountingServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: () => number;
}

export async function countingServer(
  usage: { prompt_tokens: number; completion_tokens: number },
  instead?: (response: ServerResponse, asked: number) => boolean,
): Promise<CountingServer> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    const number = asked;
    request.resume().on("end", () => {
      if (instead?.(response, number) === true) return;
      void answer(response, usage);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: () => asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(response: ServerResponse, usage: object): Promise<void> {
  // So that calls are under way at the same time.
  await sleep(20);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (more: object): string =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", ...more })}\n\n`;
  response.write(chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "yes" } }] }));
  response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
  response.end(`${chunk({ choices: [], usage })}data: [DONE]\n\n`);
}
