/** Streams of events: each event once and in order, for many subscribers, slow ones, and those that come back. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { appendEvent } from "../ledger/event-log.ts";
import { monotonicIds } from "../domain/names/ids.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { EventClient } from "./testing/event-client.ts";
import { ServerWorld } from "./testing/server-world.ts";

const SUBSCRIBERS = 120;
const ids = monotonicIds();

let server: ServerWorld;

beforeAll(async () => {
  server = await ServerWorld.start({ heartbeatMs: 100 });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Written by another handle of the store, as by another process. */
async function write(count: number, padding = 0, planId?: PlanId): Promise<void> {
  const store = await server.world.store();
  await store.transaction(async (tx) => {
    for (let index = 0; index < count; index += 1) {
      const details = { index, padding: "x".repeat(padding) };
      await appendEvent(tx, { id: ids(), type: "config.changed", planId, at: Date.now(), details });
    }
  });
}

async function newest(): Promise<number> {
  const { newest: found } = await server.agents.run("events.list", { limit: 1 });
  return found;
}

function client(options: { after?: number | string; path?: string; token?: string } = {}): EventClient {
  return new EventClient(server.url, { token: server.token, ...options });
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

test("a hundred and twenty subscribers get each event once and in order, whichever process wrote it", async () => {
  const begin = await newest();
  const clients = Array.from({ length: SUBSCRIBERS }, () => client());
  await Promise.all(clients.map((one) => one.opened()));
  await metric("cleveragents_event_subscribers", SUBSCRIBERS);
  for (let round = 0; round < 5; round += 1) await write(4);
  await Promise.all(clients.map((one) => one.until(({ events }) => events.length >= 20)));
  for (const { events } of clients) expect(events.map(({ id }) => id)).toEqual(range(begin + 1, begin + 20));
  expect(clients[0]?.events[0]?.data).toMatchObject({ type: "config.changed", plan_id: null, details: { index: 0 } });
  for (const one of clients) one.close();
  await metric("cleveragents_event_subscribers", 0);
});

async function metric(name: string, value: number): Promise<void> {
  const line = `\n${name} ${value}\n`;
  for (;;) {
    const { text } = await server.send("/metrics");
    if (text.includes(line)) return;
  }
}

test("a subscriber that comes back with the id of its last event misses nothing and gets nothing twice", async () => {
  const begin = await newest();
  // More than one page of the log, and more events while it is read.
  await write(1_200);
  const writing = (async () => {
    for (let round = 0; round < 30; round += 1) await write(10);
  })();
  const seen: number[] = [];
  let after = begin;
  while (seen.length < 1_500) {
    const one = client({ after });
    const wanted = Math.min(1_500 - seen.length, 170);
    await one.until(({ events }) => events.length >= wanted);
    one.close();
    const got = one.events.slice(0, wanted).map(({ id }) => id);
    seen.push(...got);
    after = got.at(-1) ?? after;
  }
  await writing;
  expect(seen).toEqual(range(begin + 1, begin + 1_500));
});

test("a stream of one plan has its events alone, also those from before", async () => {
  const plan = (await server.executed("streamed.txt")) as PlanId;
  const live = client({ path: `/api/v1/plans/${plan}/events` });
  const all = client({ path: `/api/v1/plans/${plan}/events?last_event_id=0` });
  await Promise.all([live.opened(), all.opened()]);
  await write(3);
  await server.post("plan.apply", { plan, approve: true });
  await live.until(({ events }) => events.some(({ type }) => type === "plan.applied"));
  await all.until(({ events }) => events.some(({ type }) => type === "plan.applied"));
  for (const one of [live, all]) {
    one.close();
    expect(new Set(one.events.map(({ data }) => data["plan_id"]))).toEqual(new Set([plan]));
  }
  expect(all.events[0]?.type).toBe("plan.created");
  expect(live.events[0]?.type).not.toBe("plan.created");
  const missing = client({ path: "/api/v1/plans/01JZZZZZ/events" });
  await missing.opened();
  expect(missing.status).toBe(404);
});

test("a subscriber that stops reading is dropped, the others go on, and it can come back without a gap", async () => {
  const begin = await newest();
  const [slow, quick] = [client(), client()];
  await Promise.all([slow.opened(), quick.opened()]);
  slow.pause();
  // Its socket and its own buffer take some megabytes before the server's fills up.
  let written = 0;
  while (!/cleveragents_event_subscribers_dropped_total [1-9]/.test((await server.send("/metrics")).text)) {
    await write(20, 50_000);
    written += 20;
    await quick.until(({ events }) => events.length >= written);
  }
  slow.resume();
  await slow.until(({ ended }) => ended);
  const last = slow.events.at(-1)?.id ?? begin;
  expect(last).toBeLessThan(begin + written);
  const back = client({ after: last });
  await back.until(({ events }) => last + events.length >= begin + written);
  expect([...slow.events, ...back.events].map(({ id }) => id)).toEqual(range(begin + 1, begin + written));
  for (const one of [quick, back]) one.close();
});

test("a quiet stream shows signs of life, and ends when its token is revoked", async () => {
  const token = await server.newToken("viewer");
  const one = client({ token });
  await one.until(({ text }) => text.includes(": \n\n"));
  await server.post("server.token.revoke", { token: token.split("_")[1] });
  await one.until(({ ended }) => ended);
  expect(one.status).toBe(200);
});

test.each(["x", "-1", "1.5", "9".repeat(20)])("Last-Event-ID %s is refused", async (after) => {
  const one = client({ after });
  await one.opened();
  expect(one.status).toBe(400);
});
