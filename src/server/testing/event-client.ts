/** A client of server-sent events, which may stop reading. */
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export interface Received {
  readonly id: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export class EventClient {
  readonly events: Received[] = [];
  status = 0;
  text = "";
  ended = false;
  #response: IncomingMessage | undefined;
  readonly #request: ClientRequest;
  readonly #answered = Promise.withResolvers<void>();

  constructor(url: string, options: { token: string; after?: number | string; path?: string }) {
    const { token, after, path = "/api/v1/events" } = options;
    const headers = {
      authorization: `Bearer ${token}`,
      ...(after === undefined ? {} : { "last-event-id": String(after) }),
    };
    this.#request = request(new URL(path, url), { headers, agent: false }, (response) => {
      this.#response = response;
      this.status = response.statusCode ?? 0;
      let rest = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        this.text += chunk;
        const blocks = (rest + chunk).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) this.#take(block);
      });
      response.on("close", () => (this.ended = true)).on("error", () => undefined);
      this.#answered.resolve();
    });
    this.#request.on("error", () => {
      this.ended = true;
      this.#answered.resolve();
    });
    this.#request.end();
  }

  /** Until the server has answered. */
  opened(): Promise<void> {
    return this.#answered.promise;
  }

  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  /** Until it has so many events, or the stream has ended. */
  async until(isEnough: (client: EventClient) => boolean): Promise<void> {
    while (!isEnough(this)) await sleep(10);
  }

  #take(block: string): void {
    const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
    if (field("id") === "") return;
    const data = JSON.parse(field("data")) as Received["data"];
    this.events.push({ id: Number(field("id")), type: field("event"), data });
  }
}
