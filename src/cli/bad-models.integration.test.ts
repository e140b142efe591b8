/**
 * Models that misbehave in the middle of a plan, over real HTTP: the error is clear, the work is kept, and the plan
 * continues once they behave.
 */
import { expect, test } from "vitest";
import { chunk, speak, SpeakingServer, type Answer, type Answering, type Question } from "./testing/speaking-server.ts";
import { ThinkingWorld } from "./testing/thinking-world.ts";

const ACTION = `name: improve
description: Improve {what}
definition_of_done: It is improved
execution_actor: house/m
arguments:
  - { name: what, required: true }
`;
const STEPS = [
  { id: "one", description: "Write one" },
  { id: "two", description: "Write two", needs: ["one"] },
];

const write = (path: string): Answer => ({ call: { tool: "write_file", parameters: { path, content: "x\n" } } });

function behaving({ user, results }: Question): Answer {
  if (user.includes("Decide how")) return { call: { tool: "record_strategy", parameters: { steps: STEPS } } };
  const [, step = ""] = /step "(\w+)"/.exec(user) ?? [];
  return results.length > 0 ? { text: `${step} is written.` } : write(`${step}.txt`);
}

/** Behaves up to the second step. */
function except(misbehave: Answering): Answering {
  return (question, response) =>
    question.user.includes('step "two"') ? misbehave(question, response) : behaving(question);
}

const CASES: readonly (readonly [what: string, code: string, misbehave: Answering])[] = [
  [
    "ten megabytes",
    "MODEL_MALFORMED",
    (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const piece = chunk({ choices: [{ index: 0, delta: { content: "x".repeat(1024 * 1024) } }] });
      for (let sent = 0; sent < 10; sent += 1) response.write(piece);
      response.end("data: [DONE]\n\n");
      return undefined;
    },
  ],
  [
    "no JSON",
    "MODEL_MALFORMED",
    (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end("data: {not json\n\ndata: [DONE]\n\n");
      return undefined;
    },
  ],
  [
    "a key that is not accepted",
    "MODEL_AUTHENTICATION",
    (_, response) => {
      response.writeHead(401, { "content-type": "application/json" });
      response.end('{"error":{"message":"no"}}');
      return undefined;
    },
  ],
  [
    "a rate limit",
    "MODEL_RATE_LIMIT",
    (_, response) => {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "0" });
      response.end('{"error":{"message":"slow down"}}');
      return undefined;
    },
  ],
  [
    "a connection that breaks",
    "MODEL_NETWORK",
    (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "I wi" } }] }));
      setTimeout(() => response.destroy(), 20);
      return undefined;
    },
  ],
  ["silence", "MODEL_TIMEOUT", () => undefined],
  ["nothing", "STUCK", () => ({ text: "" })],
  ["nonsense", "STUCK", () => ({ text: "The moon is made of cheese." })],
  ["a tool that does not exist, for ever", "STUCK", () => ({ call: { tool: "fly", parameters: {} } })],
  [
    "a path outside, for ever",
    "STUCK",
    () => ({ call: { tool: "write_file", parameters: { path: "../../outside.txt", content: "x" } } }),
  ],
  ["the same failing call, for ever", "STUCK", () => ({ call: { tool: "read_file", parameters: { path: "no.txt" } } })],
];

test.each(CASES)("%s: %s", async (_, code, misbehave) => {
  await using server = new SpeakingServer(except(misbehave));
  using world = new ThinkingWorld();
  const { agents } = world;
  await agents.json("config", "set", "provider.house.base-url", await server.listen());
  await agents.json("config", "set", "provider.house.timeout", "2");
  const before = world.state();
  const id = await world.thinking(ACTION);
  const { error, exit_code } = await agents.json("plan", "execute", id);
  expect({ exit_code, code: error?.code }).toEqual({ exit_code: 1, code });
  expect(error?.suggestions).toContain(`agents plan execute ${id}`);
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ phase: "execute", state: "errored" });
  // The work done before is there, and the user's files were not touched.
  expect((await agents.json("plan", "diff", id)).data).toMatchObject({ files: [{ path: "one.txt" }] });
  expect(world.state()).toBe(before);

  const asked = server.asked.filter((question) => question.includes('step "one"')).length;
  server.answering = (question, response) => {
    speak(response, behaving(question.user.includes("two") ? { ...question, results: only(question) } : question));
    return undefined;
  };
  expect((await agents.json("plan", "execute", id)).data).toMatchObject({ state: "complete", changes: { files: 2 } });
  expect(server.asked.filter((question) => question.includes('step "one"'))).toHaveLength(asked);
});

/** Whether it has written by now: what it called before it behaved does not count. */
function only({ results }: Question): string[] {
  return results.at(-1) === "write_file" && results.filter((tool) => tool === "write_file").length !== 3
    ? ["write_file"]
    : [];
}
