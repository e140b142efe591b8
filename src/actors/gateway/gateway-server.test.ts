/** The seam of the gateway: its port sees each request and each answer whole, decides first, and hears every end. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { UsageError } from "../../domain/errors/errors.ts";
import { configuredProviders } from "../providers/providers.ts";
import { strictServer, strictSettings } from "../testing/strict-server.ts";
import type { GatewayAnswer, GatewayPort, GatewayRequest } from "./gateway-port.ts";
import { openGateway, type GatewayOptions } from "./gateway-server.ts";

class Recorder implements GatewayPort {
  readonly log: (string | [GatewayRequest, GatewayAnswer])[] = [];
  refuse = false;

  async before(request: GatewayRequest): ReturnType<GatewayPort["before"]> {
    this.log.push(`before ${request.id}`);
    return this.refuse ? { pass: false, reason: new UsageError("not now") } : { pass: true };
  }

  async after(request: GatewayRequest, answer: GatewayAnswer): Promise<void> {
    this.log.push([request, answer]);
  }
}

async function opened(more: Partial<GatewayOptions> = {}) {
  const server = await strictServer({ script: ({ messages }) => ({ text: `to ${messages.length}` }) });
  const settings = new Map(Object.entries(strictSettings(server.url)));
  const port = new Recorder();
  const gateway = await openGateway({
    providers: configuredProviders(settings, {}),
    count: (text) => text.length,
    known: [],
    port,
    model: undefined,
    maxOutputTokens: undefined,
    network: false,
    ...more,
  });
  const ask = (): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.token}` },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], stream: true }),
    });
  const close = async (): Promise<void> => {
    await gateway[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  return { server, port, gateway, ask, [Symbol.asyncDispose]: close };
}

test("the port sees what the model is shown and what it answered, whole and in order", async () => {
  await using at = await opened();
  const first = await (await at.ask()).text();
  await (await at.ask()).text();
  const [before, [request, answer], again] = at.port.log as [string, [GatewayRequest, GatewayAnswer], string];
  expect([before, again]).toEqual(["before 1", "before 2"]);
  expect(request.shown).toEqual(at.server.log[0]?.body);
  expect(request).toMatchObject({ dialect: "chat", model: { provider: "openai", model: "m" }, masked: 0 });
  expect(answer).toMatchObject({ answered: true, body: first, usage: { estimated: false } });
});

test("a request that the port refuses is not sent, and no end is told", async () => {
  await using at = await opened();
  at.port.refuse = true;
  const answer = await at.ask();
  expect([answer.status, await answer.json()]).toMatchObject([402, { error: { message: "not now" } }]);
  expect([at.port.log, at.server.log]).toEqual([["before 1"], []]);
});

test("a port that fails is told to the operator, and the client gets no details", async () => {
  const failures: unknown[] = [];
  const port: GatewayPort = {
    before: () => Promise.reject(new Error("the disk is full: /secret/place")),
    after: () => Promise.resolve(),
  };
  await using at = await opened({ port, onFailure: (error) => failures.push(error) });
  const answer = await at.ask();
  expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining("disk")]);
  expect(failures).toHaveLength(1);
});

test("a client that does not finish its request is cut off", async () => {
  await using at = await opened({ limits: { requestMs: 200 } });
  const socket = connect(Number(new URL(at.gateway.url).port), "127.0.0.1");
  socket.write(`POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${at.gateway.token}\r\n`);
  socket.write("content-length: 100\r\n\r\n{");
  socket.resume();
  await once(socket, "close");
  expect(at.port.log).toEqual([]);
});
