/** `agents gateway` as a process: it starts a program, whose calls go through it, and a kill leaves them counted. */
import { chmodSync } from "node:fs";
import { expect, test } from "vitest";
import { strictServer, strictSettings, type StrictServer } from "../actors/testing/strict-server.ts";
import { gatewaySpending } from "../ledger/budget-report.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { Agents } from "./testing/agents.ts";

const KEYS = {
  ANTHROPIC_API_KEY: "sk-ant-real0real1real2real3real4",
  OPENAI_API_KEY: "sk-proj-real0real1real2real3real4",
  GEMINI_API_KEY: "AIzaReal0Real1Real2Real3Real4Real5Real6",
  MY_OWN_KEY: "the-key-of-an-endpoint-of-ones-own",
  ANTHROPIC_AUTH_TOKEN: "a-login-that-goes-around",
};

/** An agent program: asks as often as it is told, and ends with the status of the last answer. */
const CLIENT = `
const { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key } = process.env;
const [times, ...words] = process.argv.slice(2);
process.stdout.write(JSON.stringify(process.env) + "\\n");
let status = 0;
for (let i = 0; i < Number(times); i += 1) {
  const answer = await fetch(url + "/v1/messages", {
    method: "POST",
    headers: { "x-api-key": key, "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 1000, stream: true,
      messages: [{ role: "user", content: [{ type: "text", text: words.join(" ") }] }] }),
  });
  status = answer.status;
  process.stderr.write(status + " " + (await answer.text()).length + "\\n");
}
let input = "";
for await (const piece of process.stdin) input += piece;
process.stdout.write("read: " + input + "\\n");
process.exit(status === 200 ? 7 : 9);
`;

class Surroundings extends Agents {
  async at(server: StrictServer): Promise<void> {
    Object.assign(this.environment, KEYS);
    const settings = { ...strictSettings(server.url), "provider.vllm.api-key-env": "MY_OWN_KEY" };
    for (const [key, value] of Object.entries(settings)) await this.json("config", "set", key, value);
    await this.json("config", "set", "provider.anthropic.prices", "*=3/15");
    this.write("client.mjs", CLIENT);
  }
}

test("a program runs with the gateway's variables and no real key; its streams, words and exit code pass through", async () => {
  await using server = await strictServer({ script: () => ({ text: "hello" }) });
  using agents = new Surroundings();
  await agents.at(server);
  const args = ["gateway", "--budget", "5", "--", process.execPath, "client.mjs", "2", "--format", "x y"];
  const { code, stdout, stderr } = await agents.process(args, { input: "typed" });
  expect(code).toBe(7);
  const [first = "", second] = stdout.split("\n");
  expect(second).toBe("read: typed");
  const environment = JSON.parse(first) as Record<string, string>;
  for (const key of Object.values(KEYS)) expect(first).not.toContain(key);
  const { ANTHROPIC_BASE_URL: url = "", ANTHROPIC_API_KEY: token } = environment;
  expect(environment).toMatchObject({
    ANTHROPIC_BASE_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    OPENAI_BASE_URL: `${url}/v1`,
    GOOGLE_GEMINI_BASE_URL: url,
    OPENAI_API_KEY: token,
    GEMINI_API_KEY: token,
    NO_PROXY: expect.stringContaining("127.0.0.1") as string,
  });
  expect(environment).not.toHaveProperty("MY_OWN_KEY");
  expect(environment).not.toHaveProperty("ANTHROPIC_AUTH_TOKEN");
  expect(server.log.map(({ headers }) => headers["x-api-key"])).toEqual(Array(2).fill(KEYS.ANTHROPIC_API_KEY));
  expect(JSON.stringify(server.log[0]?.body)).toContain("--format x y");
  expect(stderr).toMatch(/^200 \d+\n200 \d+\ngateway: 2 model calls, \d+ tokens in, \d+ out, \$0\.00\d+ of \$5\.00\n$/);
  const { data } = await agents.json("info");
  expect(data["cost_today"]).toMatchObject({ calls: 2, reserved_usd: 0 });
});

test("at the cap the program is refused, and the last line says so", async () => {
  await using server = await strictServer({ script: () => ({ text: "hello" }) });
  using agents = new Surroundings();
  await agents.at(server);
  const args = ["gateway", "--budget", "0.001", "--", process.execPath, "client.mjs", "3", "hi"];
  const { code, stderr } = await agents.process(args);
  expect(code).toBe(9);
  expect(server.log).toEqual([]);
  expect(stderr).toContain("402 ");
  expect(stderr).toContain(
    "gateway: 0 model calls, 0 tokens in, 0 out, $0.00 of $0.001, 3 calls refused by the budget",
  );
});

test("killed in the middle of a call, its reservation stays, and is assumed when no call can take so long", async () => {
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  await using server = await strictServer({
    script: async () => {
      asked.resolve();
      await held.promise;
      return { text: "late" };
    },
  });
  using agents = new Surroundings();
  await agents.at(server);
  const args = ["gateway", "--budget", "5", "--", process.execPath, "client.mjs", "1", "hi"];
  const { child, finished } = agents.start(args, { group: true });
  await asked.promise;
  child.kill("SIGKILL");
  await finished;
  const { data } = await agents.json("info");
  const cost = data["cost_today"] as { calls: number; reserved_usd: number; assumed_usd: number };
  expect(cost).toMatchObject({ calls: 1, assumed_usd: 0 });
  expect(cost.reserved_usd).toBeGreaterThan(0.015);
  held.resolve();
  const later = await openStore(`sqlite:${agents.database}`, { clock: () => Date.now() + 3 * 3_600_000 });
  try {
    const rows = await later.read((reader) =>
      reader.all<{ gateway_id: string }>("SELECT gateway_id FROM reservations"),
    );
    const spending = await later.read((reader) =>
      gatewaySpending(reader, { id: rows[0]?.gateway_id ?? "", cap: undefined }),
    );
    expect(spending).toMatchObject({ calls: 1, assumed: Math.round(cost.reserved_usd * 1_000_000), reserved: 0 });
  } finally {
    await later.close();
  }
});

test("a signal reaches the program, whose end is the end of the command", async () => {
  await using server = await strictServer({ script: () => ({ text: "hello" }) });
  using agents = new Surroundings();
  await agents.at(server);
  const program = agents.write("wait.sh", '#!/bin/sh\ntrap "exit 42" TERM\necho ready\nwhile :; do sleep 0.1; done\n');
  chmodSync(program, 0o755);
  const { child, finished } = agents.start(["gateway", "--", program]);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.kill("SIGTERM");
  expect((await finished).code).toBe(42);
});

test("without a program it says how to use it, and serves until it is interrupted", async () => {
  await using server = await strictServer({ script: () => ({ text: "hello" }) });
  using agents = new Surroundings();
  await agents.at(server);
  const { child, finished } = agents.start(["gateway"]);
  const told = Promise.withResolvers<string>();
  let seen = "";
  child.stderr.on("data", (text: string) => {
    seen += text;
    if (seen.includes("until Ctrl-C")) told.resolve(seen);
  });
  const lines = await told.promise;
  const [, url = ""] = /export OPENAI_BASE_URL=(\S+)/.exec(lines) ?? [];
  const [, token = ""] = /export OPENAI_API_KEY=(\S+)/.exec(lines) ?? [];
  const answer = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "hi" }], stream: true }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  child.kill("SIGINT");
  const { code, stderr } = await finished;
  expect(code).toBe(0);
  expect(stderr).toContain("gateway: 1 model call, ");
});

test("an unknown program, model or budget is an error before anything starts", async () => {
  using agents = new Agents();
  const failed = async (...words: string[]) => {
    const { code, stderr } = await agents.process(["gateway", ...words]);
    return [code, stderr.split("\n")[0]];
  };
  expect(await failed("--", "no-such-program-here")).toEqual([3, 'error: There is no program "no-such-program-here".']);
  expect(await failed("--budget", "lots", "--", "true")).toEqual([2, expect.stringContaining("A budget must be")]);
  expect(await failed("--model", "gpt", "--", "true")).toEqual([2, expect.stringContaining("provider/model")]);
  expect(await failed("--model", "nowhere/m", "--", "true")).toEqual([1, expect.stringContaining("not configured")]);
});
