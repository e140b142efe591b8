/** Models through the command line: what is configured can be listed and asked, and no key is ever shown. */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agents } from "./testing/agents.ts";

const TRANSCRIPT = `turns:
  - match: { user: lease }
    text: A lease is held by one owner.
    usage: { input_tokens: 12, output_tokens: 7 }
  - match: { user: limit }
    error: rate_limit
`;

test("a scripted model is listed and answers; the answer alone is on stdout", async () => {
  using agents = new Agents();
  const transcript = join(agents.directory, "answers.yaml");
  writeFileSync(transcript, TRANSCRIPT);
  await agents.json("config", "set", "provider.scripted.transcript", transcript);

  const listed = await agents.json("actor", "list");
  expect(listed.data).toMatchObject({
    actors: [{ name: "scripted/transcript", type: "llm", builtin: true }],
    summary: { total: 1, built_in: 1, custom: 0 },
  });
  expect((await agents.json("actor", "list", "--namespace", "local")).data).toMatchObject({ summary: { total: 0 } });

  const asked = await agents.run(["actor", "run", "scripted/transcript", "what", "is", "a", "lease?"]);
  expect(asked).toMatchObject({ code: 0, stdout: "A lease is held by one owner.\n" });
  expect(asked.stderr).toBe("12 tokens in, 7 out, for $0.00.\n");

  const envelope = await agents.json("actor", "run", "scripted/transcript", "what is a lease?");
  expect(envelope.data).toMatchObject({
    actor_run: { actor: "scripted/transcript", answered_by: "scripted/transcript", prompt: "what is a lease?" },
    response: "A lease is held by one owner.",
    usage: { input_tokens: 12, output_tokens: 7, estimated: false, cost_usd: 0, attempts: 1, masked_secrets: 0 },
    finish: "stop",
  });
});

test("what cannot be asked is said, and nothing is sent", async () => {
  using agents = new Agents();
  expect(await agents.json("actor", "run", "gpt-4o", "hello")).toMatchObject({ exit_code: 3 });
  expect(await agents.json("actor", "run", "openai/gpt-4o", " ")).toMatchObject({ exit_code: 2 });
  expect(await agents.json("actor", "run", "openai/gpt-4o", "hello", "--temperature", "hot")).toMatchObject({
    exit_code: 2,
    error: { message: '--temperature must be a number, not "hot".' },
  });
  expect(await agents.json("actor", "run", "openai/gpt-4o", "hello", "--temperature", "3")).toMatchObject({
    exit_code: 2,
    error: { message: "temperature: must be from 0 to 2." },
  });
  const unknown = await agents.json("actor", "run", "nowhere/model", "hello");
  expect(unknown.status).toBe("error");
  expect(unknown.error?.message).toContain("nowhere");
});

test("an endpoint of one's own is asked over HTTP with its key, which no output shows", async () => {
  using agents = new Agents();
  const key = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz";
  const seen: { authorization: string | undefined; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      seen.push({ authorization: request.headers.authorization, body });
      response.writeHead(200, { "content-type": "text/event-stream" });
      const chunk = (delta: object, more: object = {}): string =>
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, ...more }] })}\n\n`;
      response.write(chunk({ role: "assistant", content: "forty-" }));
      response.end(`${chunk({ content: "two" }, { finish_reason: "stop" })}data: [DONE]\n\n`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    await agents.json("config", "set", "provider.house.base-url", `http://127.0.0.1:${port}/v1`);
    await agents.json("config", "set", "provider.house.models", "m");
    agents.environment["HOUSE_API_KEY"] = key;
    const asked = await agents.run(["actor", "run", "house/m", `my key is ${key}`, "--system", "Be brief."]);
    expect(asked).toMatchObject({ code: 0, stdout: "forty-two\n" });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.authorization).toBe(`Bearer ${key}`);
    expect(seen[0]?.body).toContain("Be brief.");
    expect(seen[0]?.body).not.toContain(key);
    expect(asked.stderr).toContain("1 secret masked.");
    expect(asked.stdout + asked.stderr).not.toContain(key);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
