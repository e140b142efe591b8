import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCleverAgents, type CleverAgents } from "../app/open.ts";
import { EventHub, type Subscriber } from "./event-hub.ts";

let directory: string;
let agents: CleverAgents;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "cleveragents-hub-"));
  agents = await openCleverAgents({ dataDir: directory, environment: {} });
});
afterEach(async () => {
  await agents[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

interface Heard extends Subscriber {
  readonly texts: string[];
  readonly dropped: string[];
}

function subscriber(more: Partial<Subscriber> = {}): Heard {
  const [texts, dropped]: [string[], string[]] = [[], []];
  return {
    planId: undefined,
    token: "t",
    write: (text) => void texts.push(text),
    waiting: () => 0,
    drop: (why) => void dropped.push(why),
    drained: () => Promise.resolve(true),
    texts,
    dropped,
    ...more,
  };
}

function hubOf(more: Partial<ConstructorParameters<typeof EventHub>[0]> = {}): EventHub {
  return new EventHub({ agents, isValid: () => Promise.resolve(true), failed: () => undefined, retryMs: 1, ...more });
}

test("a reader that fails is told, and reads on from where it was", async () => {
  const failures: string[] = [];
  let fails = true;
  const flaky = new Proxy(agents, {
    get(target, key) {
      if (key === "run") return target.run.bind(target);
      return (options: object) => {
        if (!fails) return target.events(options);
        fails = false;
        throw new Error("the disk is full");
      };
    },
  });
  const hub = hubOf({ agents: flaky, failed: (error) => void failures.push(String(error)) });
  await hub.start();
  const one = subscriber();
  await hub.join(one, undefined);
  await agents.run("project.create", { project: "shop" });
  while (one.texts.length === 0) await sleep(5);
  expect(failures).toEqual(["Error: the disk is full"]);
  expect(one.texts[0]).toContain("event: project.created");
  await hub.close();
  expect(one.dropped).toEqual(["stopping"]);
});

test("a subscriber that goes away while it catches up is not kept, and one that comes while it stops is sent away", async () => {
  await agents.run("project.create", { project: "shop" });
  const hub = hubOf();
  await hub.start();
  await hub.join(subscriber({ drained: () => Promise.resolve(false) }), 0);
  expect(hub.subscribers).toBe(0);
  await hub.close();
  const late = subscriber();
  await hub.join(late, undefined);
  expect([late.dropped, hub.subscribers]).toEqual([["stopping"], 0]);
});

test("an id that is ahead of the log, as of another store, waits for what comes", async () => {
  const hub = hubOf();
  await hub.start();
  const one = subscriber();
  await hub.join(one, 1_000);
  await agents.run("project.create", { project: "shop" });
  while (one.texts.length === 0) await sleep(5);
  expect(one.texts[0]).toContain("event: project.created");
  await hub.close();
});

test("a beat ends the streams of a token that no longer holds, and keeps the others", async () => {
  const hub = hubOf({ isValid: (token) => Promise.resolve(token === "good") });
  await hub.start();
  const [good, bad] = [subscriber({ token: "good" }), subscriber({ token: "bad" })];
  await hub.join(good, undefined);
  await hub.join(bad, undefined);
  await hub.beat();
  expect([good.texts, good.dropped, bad.dropped, hub.dropped]).toEqual([[": \n\n"], [], ["refused"], 0]);
  await hub.close();
});
