/**
 * Outside agents beside others: in one plan with our own loop, over several resources, as candidates for one request,
 * and with what they leave running behind them.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { WireRequest } from "../actors/testing/wires/wire.ts";
import { makeRepository } from "../testing/git-repository.ts";
import { answersIn, byTurn, OutsideWorld, promptOf, put, stepOf, tiny, write } from "./testing/outside-world.ts";

/** Decides on three steps, gives two away, and does the third itself. */
function leading(request: WireRequest): { text: string } | { calls: ReturnType<typeof tiny>[] } {
  const steps = [
    { id: "code", description: "Write the code", actor: "local/one" },
    { id: "prose", description: "Write the text", needs: ["code"], actor: "local/two" },
    { id: "check", description: "Look at it", needs: ["prose"] },
  ];
  const text = JSON.stringify(request.messages);
  if (!text.includes('Carry out the step \\"check\\"')) return { calls: [tiny("record_strategy", { steps })] };
  if (request.messages.at(-1)?.role === "tool") return { text: "All is checked." };
  return { calls: [tiny("write_file", { path: "check.txt", content: "check\n" })] };
}

test("steps of one plan by two outside agents and our own loop, with a handover between them", async () => {
  await using world = await OutsideWorld.open((request) => {
    const step = stepOf(request);
    if (step === "") return leading(request);
    if (answersIn(request) > 0) return { text: `The ${step} is there.` };
    return { calls: [step === "code" ? put("code.txt", "code\n") : write("prose.txt", "prose\n")] };
  });
  await world.add({ name: "one", speaks: "acp", dialect: "gemini" });
  await world.add({ name: "two", speaks: "run", dialect: "openai-chat" });
  const stepActors = ["local/one", "local/two"];
  const done = await world.run("write", { actor: ["anthropic/a-model"], stepActors });
  expect(done).toMatchObject({ state: "complete", answer: "All is checked.", changes: { files: 3 } });
  expect((await world.credits()).map(({ path, tool }) => [path, tool])).toEqual([
    ["code.txt", "acp:one/write"],
    ["prose.txt", "acp:two/write"],
    ["check.txt", "write_file"],
  ]);
  const prose = promptOf(world.requests.find((request) => stepOf(request) === "prose"));
  expect(prose).toContain("The code is there.");
  expect(prose).toContain("+++ b/code.txt");
  const agents = await world.agents();
  const { planId: plan } = done as { planId: string };
  const { tree, decisionIds } = await agents.run("plan.tree", { plan });
  expect(JSON.stringify(tree)).toContain('"actor":"local/two"');
  expect(Object.keys(decisionIds)).toEqual(
    expect.arrayContaining(["code.1", "code.2", "prose.1", "prose.2", "check.1"]),
  );
  expect(await agents.run("plan.apply", { plan }, { answers: "program" })).toMatchObject({ state: "applied" });
});

test("an outside agent changes several resources of a plan, and cannot change one that is read-only", async () => {
  const command = (prompt: string): string => {
    const root = (alias: string): string =>
      new RegExp(`The resource ${alias} is in (/.*?)[.;]`).exec(prompt)?.[1] ?? "";
    return ["web", "docs", "shop"].map((alias) => `echo ${alias} >> ${root(alias)}/new.txt`).join("; ");
  };
  await using world = await OutsideWorld.open((request) => {
    return answersIn(request) === 0
      ? { calls: [tiny("run", { command: command(promptOf(request)) })] }
      : { text: "Done." };
  });
  const agents = await world.agents();
  await world.add({ speaks: "acp" });
  await agents.run("project.create", { project: "all" });
  for (const name of ["shop", "web", "docs"]) {
    const path = name === "shop" ? world.repository : makeRepository(join(world.directory, name));
    await agents.run("resource.add", { type: "git-checkout", resource: name, path });
    await agents.run("project.link-resource", { project: "all", resource: name, readOnly: name === "docs" });
  }
  const done = await world.run("change all", { project: "all" });
  const { planId: plan } = done as { planId: string };
  const changed = await world.reading((reader) =>
    reader.all<{ resource: string; path: string }>("SELECT resource, path FROM change_entries ORDER BY resource"),
  );
  expect(changed.map(({ resource, path }) => [resource, path])).toEqual([
    ["shop", "new.txt"],
    ["web", "new.txt"],
  ]);
  expect(await agents.run("plan.apply", { plan }, { answers: "program" })).toMatchObject({ state: "applied" });
  expect(readFileSync(join(world.directory, "web", "new.txt"), "utf8")).toBe("web\n");
  expect(existsSync(join(world.directory, "docs", "new.txt"))).toBe(false);
});

test("two outside agents try a request at once: one dies, the other is chosen, and the first is kept", async () => {
  await using world = await OutsideWorld.open(async (request) => {
    const mortal = promptOf(request).includes("You are mortal.");
    if (answersIn(request) === 0) return { calls: [put("note.txt", mortal ? "mortal\n" : "lasting\n")] };
    return mortal ? { calls: [tiny("die", { code: 7 })] } : { text: "It is written." };
  });
  await world.add({ name: "mortal", speaks: "acp", more: "system_prompt: You are mortal." });
  await world.add({ name: "lasting", speaks: "acp" });
  const agents = await world.agents();
  const wish = { request: "write a note", directory: world.repository, automationProfile: "trusted", bestOf: 2 };
  const output = await agents.run("run", { ...wish, actor: ["local/mortal", "local/lasting"] });
  if (output.outcome !== "candidates") throw new Error(`there were no candidates: ${output.outcome}`);
  expect(output.candidates).toMatchObject([
    { actor: "local/mortal", situation: "stopped", chosen: false, error: expect.stringContaining("code 7") },
    { actor: "local/lasting", situation: "applied", chosen: true, changes: { files: 1 } },
  ]);
  expect(readFileSync(join(world.repository, "note.txt"), "utf8")).toBe("lasting\n");
  // The work of the dead one is on record and in its sandbox, apart from the other.
  const mortal = output.candidates[0]?.planId ?? "";
  expect(await agents.run("plan.status", { plan: mortal })).toMatchObject({ state: "errored" });
  expect(JSON.stringify(await agents.run("plan.diff", { plan: mortal }))).toContain("+mortal");
  expect((await world.credits()).map(({ tool }) => tool).toSorted()).toEqual(["acp:lasting/write", "acp:mortal/write"]);
  const sandboxes = async (): Promise<string[]> =>
    (await agents.run("cleanup.list", {})).sandboxes.map(({ planId }) => planId);
  expect(await sandboxes()).toContain(mortal);
});

test("what an agent leaves running is credited where it is seen, and ends before the last look", async () => {
  await using world = await OutsideWorld.open(
    byTurn(
      { calls: [tiny("run", { command: "(sleep 0.4; echo late > late.txt) > /dev/null 2>&1 &" })] },
      { calls: [tiny("run", { command: "sleep 1.2" })] },
      { calls: [tiny("run", { command: "(while :; do echo x >> ever.txt; done) > /dev/null 2>&1 & sleep 0.2" })] },
    ),
  );
  await world.add({ speaks: "acp" });
  const done = await world.run("leave things running");
  expect(done).toMatchObject({ state: "complete", changes: { files: 2 } });
  const credits = await world.credits();
  expect(credits[0]).toMatchObject({ path: "late.txt", chosen: expect.stringContaining("sleep 1.2") });
  expect(new Set(credits.slice(1).map(({ path }) => path))).toEqual(new Set(["ever.txt"]));
  const busy = await world.reading((reader) =>
    reader.all<{ key: string }>(
      "SELECT key FROM steps WHERE kind = 'once' AND result LIKE '%while something of an earlier round was still running%'",
    ),
  );
  expect(busy.map(({ key }) => /acp-\d+/.exec(key)?.[0])).toContain("acp-2");
  const { planId: plan } = done as { planId: string };
  const agents = await world.agents();
  const before = JSON.stringify(await agents.run("plan.diff", { plan }));
  await sleep(300);
  expect(JSON.stringify(await agents.run("plan.diff", { plan }))).toBe(before);
  // The record is the sandbox, byte for byte, or this is refused.
  expect(await agents.run("plan.apply", { plan }, { answers: "program" })).toMatchObject({ state: "applied" });
});
