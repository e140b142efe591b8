import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";

/** A model server that does not do what it is asked, and says of it what it likes. */
export interface LyingServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: () => number;
  /** Characters of answers that it has really sent. */
  readonly sent: () => number;
  /** How many times a caller went away in the middle of an answer. */
  readonly left: () => number;
}

export interface Lie {
  /** The pieces it writes; without an end, it never stops. */
  readonly pieces: () => Iterable<string>;
  /** The usage it claims; undefined for none. */
  readonly usage?: object;
  /** After the last piece: closes the connection without an end, or falls silent. */
  readonly ending?: "breaks off" | "falls silent";
}

export async function lyingServer(lie: Lie): Promise<LyingServer> {
  const seen = { asked: 0, sent: 0, left: 0 };
  const server = createServer((request, response) => {
    seen.asked += 1;
    request.resume().on("end", () => void tell(response, lie, seen));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => seen.asked,
    sent: () => seen.sent,
    left: () => seen.left,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function tell(
  response: ServerResponse,
  { pieces, usage, ending }: Lie,
  seen: { sent: number; left: number },
): Promise<void> {
  let gone = false;
  const closed = new Promise<void>((resolve) => {
    response.on("close", () => {
      gone = true;
      if (!response.writableEnded && ending !== "breaks off") seen.left += 1;
      resolve();
    });
  });
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const content of pieces()) {
    if (gone) return;
    seen.sent += content.length;
    const written = response.write(chunk({ choices: [{ index: 0, delta: { role: "assistant", content } }] }));
    await (written ? turn() : Promise.race([new Promise((resolve) => response.once("drain", resolve)), closed]));
  }
  if (ending === "falls silent") return;
  if (ending === "breaks off") {
    response.destroy();
    return;
  }
  response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
  response.end(`${usage === undefined ? "" : chunk({ choices: [], usage })}data: [DONE]\n\n`);
}

function chunk(more: object): string {
  return `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", ...more })}\n\n`;
}

/** The same piece so many times. */
export function* times(count: number, piece: string): Iterable<string> {
  for (let made = 0; made < count; made += 1) yield piece;
}
