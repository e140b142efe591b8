import { expect, test } from "vitest";
import { AgentsError } from "../../domain/errors/errors.ts";
import { ConnectionPool } from "./connection-pool.ts";
import type { McpConnection } from "./mcp-connection.ts";

/** A connection that the test ends. */
function connection(): { readonly one: McpConnection; readonly end: () => Promise<void>; ended: boolean } {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const made = {
    ended: false,
    one: {
      closed,
      [Symbol.asyncDispose]: async () => void (made.ended = true),
    } as Partial<McpConnection> as McpConnection,
    end: async () => {
      resolve();
      await closed;
      await Promise.resolve();
    },
  };
  return made;
}

const SIGNAL = new AbortController().signal;

test("20 callers at once share one start, and one that gives up does not end it", async () => {
  await using pool = new ConnectionPool();
  const made = connection();
  let starts = 0;
  const begin = Promise.withResolvers<void>();
  const open = async (): Promise<McpConnection> => {
    starts += 1;
    await begin.promise;
    return made.one;
  };
  const leaving = new AbortController();
  const left = pool.connection("a", leaving.signal, open);
  const others = Array.from({ length: 19 }, () => pool.connection("a", SIGNAL, open));
  leaving.abort(new Error("gave up"));
  await expect(left).rejects.toThrow("gave up");
  begin.resolve();
  expect(new Set(await Promise.all(others))).toEqual(new Set([made.one]));
  expect(starts).toBe(1);
  await pool.connection("b", SIGNAL, open);
  expect(starts).toBe(2);
});

test("one that died is started again after a pause that grows; one that lived long, at once", async () => {
  let now = 0;
  await using pool = new ConnectionPool(() => now);
  const first = connection();
  await pool.connection("a", SIGNAL, async () => first.one);
  now = 20_000;
  await first.end();
  const second = connection();
  const began = performance.now();
  await pool.connection("a", SIGNAL, async () => second.one);
  expect(performance.now() - began).toBeLessThan(200);
  await second.end();
  await pool.connection("a", SIGNAL, async () => connection().one);
  expect(performance.now() - began).toBeGreaterThan(240);
});

test("one that cannot be started is left alone after five times, with its last words", async () => {
  let now = 0;
  await using pool = new ConnectionPool(() => (now += 10_000));
  let starts = 0;
  const open = async (): Promise<McpConnection> => {
    starts += 1;
    throw new AgentsError("tool_failed", "no such program");
  };
  for (let times = 0; times < 5; times += 1)
    await expect(pool.connection("a", SIGNAL, open)).rejects.toThrow("no such program");
  for (let times = 0; times < 2; times += 1)
    await expect(pool.connection("a", SIGNAL, open)).rejects.toThrow(
      "ended 5 times in a row and is left alone. The last time: no such program",
    );
  expect(starts).toBe(5);
});

test("the end of the pool ends its connections, and a pause before a start", async () => {
  const pool = new ConnectionPool();
  const made = connection();
  await pool.connection("a", SIGNAL, async () => made.one);
  const fails = async (): Promise<McpConnection> => {
    throw new AgentsError("tool_failed", "not now");
  };
  await expect(pool.connection("b", SIGNAL, fails)).rejects.toThrow("not now");
  const paused = pool.connection("b", SIGNAL, fails);
  const outcome = paused.catch((error: unknown) => String(error));
  await pool[Symbol.asyncDispose]();
  expect(await outcome).toMatch(/abort/i);
  expect(made.ended).toBe(true);
});
