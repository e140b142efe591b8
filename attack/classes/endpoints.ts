/**
 * An endpoint that lies about what it used, floods, breaks off or points elsewhere: the cap holds, and the process
 * ends.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tried, verdict, type AttackClass, type Verdict } from "../verdict.ts";
import type { AttackWorld } from "../world.ts";

interface Lie {
  readonly name: string;
  readonly answer: (response: ServerResponse) => void;
}

/** The money that each world had spent by the last attack. */
const spentBefore = new WeakMap<AttackWorld, number>();

const CAP_USD = 5000;

export const endpoints: AttackClass = async function* (campaign) {
  const { world } = campaign;
  for (const lie of tried(campaign, LIES, 3)) yield* told(world, lie);
  for (const url of tried(campaign, LINK_LOCAL, 2)) {
    const { code } = await world.agents(["config", "set", "provider.evil.base-url", url]);
    yield verdict(`endpoint ${url}`, code === 0 && "it was taken");
  }
};

const LINK_LOCAL = [
  "http://169.254.169.254/v1",
  "http://metadata.google.internal/v1",
  "http://[fe80::1]/v1",
  "http://2852039166/v1",
  "http://0xa9fea9fe/v1",
  "http://[::ffff:169.254.169.254]/v1",
];

async function* told(world: AttackWorld, { name, answer }: Lie): AsyncGenerator<Verdict> {
  const server: Server = createServer((request, response) => {
    request.resume();
    request.on("end", () => answer(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await world.agents(["config", "set", "provider.liar.base-url", `http://127.0.0.1:${port}/v1`]);
    await world.agents(["config", "set", "provider.liar.prices", "*=1000/1000"]);
    await world.agents(["config", "set", "budget.per-day", `${CAP_USD}`]);
    const { hung, stdout, stderr } = await world.agents([
      "actor",
      "run",
      "liar/m",
      "hello",
      "--max-output-tokens",
      "100",
    ]);
    const info = await world.agents(["info", "--format", "json"]);
    const amounts = Array.from(info.stdout.matchAll(/"(?:spent|assumed)_usd":\s*(-?[\d.]+)/g), ([, amount]) =>
      Number(amount),
    );
    const spent = amounts.reduce((sum, amount) => sum + amount, 0);
    const unexpected = /unexpected/i.test(stdout + stderr + info.stderr);
    const before = spentBefore.get(world) ?? 0;
    spentBefore.set(world, spent);
    yield verdict(
      `an endpoint that ${name}`,
      hung && "the process did not end",
      !(spent > before) && `what was spent went from ${before} to ${spent}`,
      unexpected && `an error without a reason: ${stderr.slice(-200)}`,
      info.code !== 0 && "agents info failed",
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const claim = (usage: unknown) => (response: ServerResponse) => {
  begin(response);
  response.write(chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "hi" } }] }));
  response.end(`${chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage })}data: [DONE]\n\n`);
};

function begin(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
}

function chunk(part: object): string {
  return `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", ...part })}\n\n`;
}

const words = chunk({ choices: [{ index: 0, delta: { content: "word ".repeat(2000) } }] });

const LIES: readonly Lie[] = [
  {
    name: "claims negative usage",
    answer: claim({ prompt_tokens: -1_000_000, completion_tokens: -1_000_000, total_tokens: -2_000_000 }),
  },
  { name: "claims 10^15 tokens", answer: claim({ prompt_tokens: 1e15, completion_tokens: 1e15, total_tokens: 2e15 }) },
  { name: "claims half a token", answer: claim({ prompt_tokens: 0.5, completion_tokens: 0.25, total_tokens: 0.75 }) },
  { name: "claims words for numbers", answer: claim({ prompt_tokens: "many", completion_tokens: null }) },
  { name: "claims nothing", answer: claim(undefined) },
  {
    name: "breaks off",
    answer: (response) => {
      begin(response);
      response.write(chunk({ choices: [{ index: 0, delta: { content: "so" } }] }));
      setTimeout(() => response.destroy(), 50);
    },
  },
  {
    name: "never stops",
    answer: (response) => {
      begin(response);
      const more = (): void => {
        while (!response.destroyed && response.write(words));
      };
      response.on("drain", more);
      response.on("error", () => undefined);
      more();
    },
  },
  {
    name: "sends one line without end",
    answer: (response) => {
      begin(response);
      const piece = "x".repeat(65_536);
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on("drain", more);
      response.on("error", () => undefined);
      more();
    },
  },
];
