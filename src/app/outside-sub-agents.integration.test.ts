/**
 * An outside agent with sub-agents: several conversations at once. Their models think side by side, their tools work
 * one after another, so each change has the answer that it came from, also after a kill.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { WireRequest } from "../actors/testing/wires/wire.ts";
import { answersIn, OutsideWorld, put, tiny } from "./testing/outside-world.ts";

const NAMES = ["alpha", "beta", "gamma"] as const;

/** The sub-agent that asks; undefined for the agent itself. */
function nameOf({ messages }: WireRequest): (typeof NAMES)[number] | undefined {
  const first = messages.find(({ role }) => role === "user")?.text ?? "";
  return NAMES.find((name) => first === `You are ${name}.`);
}

/** Each tool of a sub-agent takes its time, and writes a file of its own and one of all. */
function working(name: string, at: number): ReturnType<typeof tiny>[] {
  return [
    tiny("run", { command: `sleep 0.2; echo ${name} >> all.txt; sleep 0.2` }),
    put(`${name}-${at}.txt`, `${name}\n`),
  ];
}

const BEGIN = {
  text: "All at once.",
  calls: [
    put("main.txt", "main\n"),
    tiny("sub_agents", { prompts: NAMES.map((name) => `You are ${name}.`) }),
    put("after.txt", "x\n"),
  ],
};

test("the changes of sub-agents at once are credited to the answers they came from, and each answer is billed", async () => {
  await using world = await OutsideWorld.open((request) => {
    const [name, at] = [nameOf(request), answersIn(request)];
    if (name === undefined) return at === 0 ? BEGIN : { text: "All is done." };
    return at < 2 ? { text: `${name} ${at}`, calls: working(name, at) } : { text: `${name} is done.` };
  });
  await world.add({ speaks: "acp", more: "sub_agents: true" });
  const done = await world.run("work at once");
  expect(done).toMatchObject({ state: "complete", answer: "All is done.", cost: { calls: 11 } });
  const credits = await world.credits();
  // By name, each change has the answer whose words name it; the file of all has the one that wrote just then.
  const own = credits.filter(({ path }) => path !== "all.txt");
  expect(own.map(({ path }) => path).toSorted()).toEqual(
    ["main.txt", "after.txt", ...NAMES.flatMap((name) => [`${name}-0.txt`, `${name}-1.txt`])].toSorted(),
  );
  for (const { path, chosen } of own) expect(chosen).toContain(path);
  const all = credits.filter(({ path }) => path === "all.txt");
  expect(all).toHaveLength(6);
  for (const name of NAMES) expect(all.filter(({ chosen }) => chosen.includes(`echo ${name}`))).toHaveLength(2);
  const calls = await world.reading((reader) => reader.all("SELECT id FROM model_calls WHERE decision_id IS NOT NULL"));
  expect(calls).toHaveLength(11);
});

test("killed in the middle of sub-agents, the recorded answers are given again in the order in which their tools worked", async () => {
  const asked: string[] = [];
  const stop = new AbortController();
  await using world = await OutsideWorld.open(async (request) => {
    const [name, at] = [nameOf(request), answersIn(request)];
    asked.push(`${name ?? "main"} ${at}`);
    if (name === undefined) return at === 0 ? BEGIN : { text: "All is done." };
    // Given again at once, they would come in another order.
    if (at === 0) await sleep({ alpha: 900, beta: 450, gamma: 1 }[name]);
    if (name === "alpha" && at === 1 && !stop.signal.aborted) {
      stop.abort();
      await sleep(1_000);
    }
    return at < 2 ? { calls: working(name, at) } : { text: `${name} is done.` };
  });
  await world.add({ speaks: "acp", more: "sub_agents: true" });
  await expect(world.run("work at once", {}, stop.signal)).rejects.toThrow("was interrupted");
  const before = { asked: [...asked], credits: await world.credits() };
  const agents = await world.restart();
  const [plan] = (await agents.run("plan.list", {})).plans;
  const id = String(plan?.planId);
  asked.length = 0;
  const done = await agents.run("plan.execute", { plan: id }, { tell: (event) => world.events.push(event) });
  expect(done).toMatchObject({ state: "complete", answer: "All is done." });
  expect(asked).not.toContain("main 0");
  for (const one of ["alpha 0", "beta 0", "gamma 0"]) expect(before.asked).toContain(one);
  // It was not put in place.
  const said = world.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
  expect(said.filter((text) => text.includes("given to the agent again"))).toEqual([]);
  expect((await world.credits()).slice(0, before.credits.length)).toEqual(before.credits);
  expect((await world.credits()).filter(({ path }) => path === "all.txt")).toHaveLength(6);
  expect(await agents.run("plan.apply", { plan: id }, { answers: "program" })).toMatchObject({ state: "applied" });
});

test("20 sub-agents at once under a cap for 5: 5 go out", async () => {
  let wait = false;
  const prompts = Array.from({ length: 20 }, (_, number) => `You are number ${number}.`);
  await using world = await OutsideWorld.open(async (request) => {
    const sub = request.messages[0]?.role === "user" && request.messages[0].text.startsWith("You are number");
    // All that are refused are refused while these are open.
    if (sub && wait) await sleep(4_000);
    return sub || answersIn(request) > 0 ? { text: "x" } : { calls: [tiny("sub_agents", { prompts })] };
  });
  await world.add({ speaks: "acp", more: "sub_agents: true\noptions: { max_output_tokens: 1000 }" });
  expect(await world.run("ask a lot")).toMatchObject({ state: "complete", cost: { calls: 22 } });
  const bounds = await world.reading((reader) =>
    reader.all<{ bound: number; cost: number }>("SELECT bound, cost FROM reservations ORDER BY id"),
  );
  const sub = Math.max(...bounds.slice(1, 21).map(({ bound }) => bound));
  const budget = (((bounds[0]?.cost ?? 0) + sub * 5.5) / 1_000_000).toFixed(6);
  const before = world.server.log.length;
  wait = true;
  await expect(world.run("ask a lot", { budget })).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(world.server.log.length - before).toBe(6);
});
