/**
 * More than one turn of an outside agent: a failed check goes back to it, people say more, sessions go on, and a
 * rollback leads into the middle of its work. By the protocol, and with a program that runs once for each prompt.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { WireAnswer, WireScript } from "../actors/testing/wires/wire.ts";
import { answersIn, bash, OutsideWorld, promptOf, put, stepOf, tiny, write } from "./testing/outside-world.ts";

/** The answers of each step, by how many of them the conversation has. */
function byStep(steps: Readonly<Record<string, readonly WireAnswer[]>>): WireScript {
  return (request) => steps[stepOf(request)]?.[answersIn(request)] ?? { text: "Done." };
}

async function checked(world: OutsideWorld, command: string): Promise<void> {
  const agents = await world.agents();
  const { planId } = await world.run("make the project known");
  await agents.run("plan.cancel", { plan: planId });
  const text = `name: tests\ndescription: the answer is right\ncommand: ${command}\n`;
  await agents.run("validation.add", { definition: { file: "tests.yaml", text } });
  const { resources } = await agents.run("resource.list", {});
  await agents.run("validation.attach", { resource: String(resources[0]?.name), validation: "tests" });
}

const SPOKEN = [
  { speaks: "acp", wrote: put, shell: (command: string) => tiny("run", { command }) },
  { speaks: "run", wrote: write, shell: bash },
] as const;

test.each(SPOKEN)(
  "$speaks: what a required check printed goes back to the agent until it passes",
  async ({ speaks, wrote }) => {
    await using world = await OutsideWorld.open(
      byStep({
        "run-agent": [{ calls: [wrote("answer.txt", "wrong\n")] }, { text: "Done." }],
        "mend-1": [{ calls: [wrote("answer.txt", "still wrong\n")] }, { text: "Mended." }],
        "mend-2": [{ calls: [wrote("answer.txt", "right\n")] }, { text: "Mended now." }],
      }),
    );
    await world.add({ speaks });
    await checked(world, "cat answer.txt; grep -qx right answer.txt");
    const done = await world.run("answer");
    expect(done).toMatchObject({ phase: "execute", state: "complete", obstacle: null, answer: "Mended now." });
    const first = world.server.log.find((entry) => JSON.stringify(entry.body).includes('\\"mend-1\\"'));
    expect(JSON.stringify(first?.body)).toContain("wrong");
    const agents = await world.agents();
    const { planId } = done as { planId: string };
    expect(await agents.run("plan.apply", { plan: planId }, { answers: "program" })).toMatchObject({
      state: "applied",
    });
    expect(readFileSync(join(world.repository, "answer.txt"), "utf8")).toBe("right\n");
    const { decisionIds } = await agents.run("plan.tree", { plan: planId });
    expect(Object.keys(decisionIds)).toEqual(
      ["root", "run-agent", "mend-1", "mend-2"].flatMap((step) =>
        step === "root" ? [step] : [step, `${step}.1`, `${step}.2`],
      ),
    );
  },
);

test("an agent that cannot mend it is asked three times, and no further once it changed nothing", async () => {
  await using world = await OutsideWorld.open((request) => {
    const wrong = { calls: [put("answer.txt", `wrong in ${stepOf(request)}\n`)] };
    const lazy = promptOf(request).includes("be lazy") && stepOf(request) !== "run-agent";
    return answersIn(request) === 0 && !lazy ? wrong : { text: `Did ${stepOf(request)}.` };
  });
  await world.add({ speaks: "acp" });
  await checked(world, "grep -qx right answer.txt");
  const stubborn = { obstacle: expect.stringContaining("tests"), answer: "Did mend-3." };
  expect(await world.run("answer")).toMatchObject(stubborn);
  expect(await world.run("answer, but be lazy")).toMatchObject({ ...stubborn, answer: "Did mend-1." });
});

test.each(SPOKEN)(
  "$speaks: more can be asked for on an executed plan, in the same sandbox",
  async ({ speaks, wrote, shell }) => {
    await using world = await OutsideWorld.open(
      byStep({
        "run-agent": [{ calls: [wrote("one.txt", "1\n")] }, { text: "The first, by the heron." }],
        "follow-up-1": [{ calls: [shell("cat one.txt"), wrote("two.txt", "2\n")] }, { text: "Two as well." }],
      }),
    );
    await world.add({ speaks });
    const { planId } = await world.run("write one");
    await world.restart();
    const second = await world.run("and a second one", {
      continue: true,
      actor: undefined,
      automationProfile: undefined,
    });
    expect(second).toMatchObject({ planId, answer: "Two as well.", changes: { files: 2 } });
    const prompt = promptOf(world.requests.find((request) => stepOf(request) === "follow-up-1"));
    expect(prompt).toContain("and a second one");
    expect(prompt).toContain("The first, by the heron.");
    expect(prompt).toContain("+++ b/one.txt");
    const agents = await world.agents();
    expect(await agents.run("plan.apply", { plan: planId }, { answers: "program" })).toMatchObject({
      state: "applied",
    });
    expect(readFileSync(join(world.repository, "one.txt"), "utf8")).toBe("1\n");
    expect(readFileSync(join(world.repository, "two.txt"), "utf8")).toBe("2\n");
  },
);

test("words of a person at the end of a turn begin another one, with what the agent said", async () => {
  let guided: Promise<unknown> = Promise.resolve();
  await using world = await OutsideWorld.open(async (request) => {
    const again = promptOf(request).includes("# Since you began");
    if (answersIn(request) === 0) return { calls: [put(again ? "two.txt" : "one.txt", "x\n")] };
    if (again) return { text: "Both are there." };
    const other = await world.agents();
    const { plans } = await other.run("plan.list", {});
    guided = other.run("plan.prompt", { plan: String(plans[0]?.planId), text: "a second one too" });
    await guided;
    return { text: "One is there, by the heron." };
  });
  await world.add({ speaks: "acp" });
  const done = await world.run("write one");
  expect(done).toMatchObject({ state: "complete", answer: "Both are there.", changes: { files: 2 } });
  const prompt = promptOf(world.requests.at(-1));
  expect(prompt).toContain("The user says: a second one too");
  expect(prompt).toContain("One is there, by the heron.");
});

test("a session of an outside agent is shown, told, forked, resumed and exported", async () => {
  await using world = await OutsideWorld.open((request) => {
    const word = /# Goal\n\n(\w+)/.exec(promptOf(request))?.[1] ?? "";
    const calls = [put(`${word}.txt`, `${word}\n`)];
    return answersIn(request) === 0 ? { calls } : { text: `${word} is written.` };
  });
  await world.add({ speaks: "acp" });
  const first = await world.run("heron", { automationProfile: "trusted" });
  const agents = await world.agents();
  await agents.run("plan.apply", { plan: first.planId }, { answers: "program" });
  const here = { session: "last", directory: world.repository };
  const second = await agents.run("tell", { ...here, text: "stork" }, { answers: "none" });
  expect(second).toMatchObject({ answer: "stork is written.", actors: { execution: "local/helper" } });
  const prompt = promptOf(world.requests.at(-1));
  expect(prompt).toContain("The user asked: heron");
  expect(prompt).toContain("The answer: heron is written.");
  expect(prompt).toMatch(/The outcome: applied to the user's files as commit [0-9a-f]{12}\. It changed heron\.txt\./);
  expect((await agents.run("session.show", here)).turns).toMatchObject([
    { request: "heron", answer: "heron is written.", standing: "applied" },
    { request: "stork", answer: "stork is written.", standing: "ready to review" },
  ]);
  const { text } = await agents.run("session.export", { ...here, as: "json" });
  expect(text).toContain("acp:helper/write");
  const { sessionId } = await agents.run("session.fork", { ...here, at: "1" });
  const third = { session: sessionId, directory: world.repository, text: "crane" };
  await agents.run("tell", third, { answers: "none" });
  const forked = promptOf(world.requests.at(-1));
  expect(forked).toContain("The answer: heron is written.");
  expect(forked).not.toContain("stork");
});

test("resume goes on with a session whose agent was stopped, and asks nothing twice", async () => {
  const stop = new AbortController();
  await using world = await OutsideWorld.open(async (request) => {
    if (answersIn(request) === 0) return { calls: [put("one.txt", "1\n")] };
    if (!stop.signal.aborted) {
      stop.abort();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    return { text: "One is written." };
  });
  await world.add({ speaks: "acp" });
  await expect(world.run("write one", {}, stop.signal)).rejects.toThrow("was interrupted");
  const agents = await world.restart();
  const done = await agents.run(
    "session.resume",
    { session: "last", directory: world.repository },
    { answers: "none" },
  );
  expect(done).toMatchObject({ state: "complete", answer: "One is written.", changes: { files: 1 } });
  expect(world.requests.filter((request) => answersIn(request) === 0)).toHaveLength(1);
});

/** The checkpoints of the plan, by the files that changed before each. */
async function checkpoints(world: OutsideWorld, plan: string): Promise<Record<string, string>> {
  const listed = await (await world.agents()).run("plan.rollback", { plan, directory: world.repository });
  const all = "checkpoints" in listed ? listed.checkpoints : [];
  return Object.fromEntries(all.map(({ id, files }) => [files.join(), id]));
}

test.each(SPOKEN)(
  "$speaks: after a rollback into its work the agent gets the answers up to there again, and asks again from there",
  async ({ speaks, wrote, shell }) => {
    let second = false;
    await using world = await OutsideWorld.open((request) => {
      const at = answersIn(request);
      if (at < 2) return { calls: [wrote(`${at}.txt`, `${at}\n`)] };
      if (at === 2) return { calls: [shell("cat 0.txt 1.txt > 2.txt"), wrote("both.txt", second ? "new\n" : "old\n")] };
      return at === 3 && !second
        ? { calls: [wrote("3.txt", "3\n")] }
        : { text: second ? "In another way." : "As of old." };
    });
    await world.add({ speaks, habits: "title", variables: { TINY_TITLE: "1" } });
    const { planId: plan } = await world.run("write four");
    expect((await world.credits()).map(({ path }) => path)).toEqual(["0.txt", "1.txt", "2.txt", "both.txt", "3.txt"]);
    const agents = await world.agents();
    const checkpoint = (await checkpoints(world, plan))["shop/1.txt"] ?? "";
    const rolled = await agents.run(
      "plan.rollback",
      { plan, checkpoint, directory: world.repository },
      { answers: "program" },
    );
    expect(rolled).toMatchObject({
      rolledBack: true,
      impact: { decisionsDiscarded: 3, filesAffected: ["shop/2.txt", "shop/3.txt", "shop/both.txt"] },
    });
    // Decisions, calls and changes of the same rounds, and nothing else.
    const standing = await world.reading(async (reader) => ({
      answers: await reader.all("SELECT id FROM decisions WHERE phase = 'execute' AND superseded_at IS NULL"),
      calls: await reader.all("SELECT id FROM tool_invocations WHERE superseded_at IS NULL"),
      changes: await reader.all("SELECT id FROM changesets WHERE superseded_at IS NULL"),
    }));
    expect([standing.answers.length, standing.calls.length, standing.changes.length]).toEqual([2, 2, 2]);
    second = true;
    const before = world.requests.length;
    await world.restart();
    const done = await (await world.agents()).run("plan.execute", { plan });
    expect(done).toMatchObject({ state: "complete", answer: "In another way." });
    // The answers before it were given again, by position.
    expect(world.requests.slice(before).map(answersIn)).toEqual([2, 3]);
    expect((await world.credits()).map(({ path }) => path)).toEqual(["0.txt", "1.txt", "2.txt", "both.txt"]);
    const { decisionIds } = await (await world.agents()).run("plan.tree", { plan });
    expect(Object.keys(decisionIds)).toEqual([
      "root",
      "run-agent",
      ...[1, 2, 3, 4].map((number) => `run-agent.${number}`),
    ]);
    const told = await (
      await world.agents()
    ).run("plan.explain", { id: decisionIds["run-agent.3"] ?? "", showContext: true });
    expect(JSON.stringify(told)).toContain("acp:helper/write");
    expect(await (await world.agents()).run("plan.apply", { plan }, { answers: "program" })).toMatchObject({
      state: "applied",
    });
    expect(readFileSync(join(world.repository, "both.txt"), "utf8")).toBe("new\n");
    expect(readFileSync(join(world.repository, "2.txt"), "utf8")).toBe("0\n1\n");
  },
);

test("a question at the end of a turn waits for its answer, and the next turn is told both", async () => {
  await using world = await OutsideWorld.open((request) => {
    const told = promptOf(request).includes("# Since you began");
    if (!told) return { text: "Which color do you want, red or blue?" };
    return answersIn(request) === 0 ? { calls: [put("color.txt", "blue\n")] } : { text: "It is blue." };
  });
  await world.add({ speaks: "acp" });
  const run = world.run("choose a color", { automationProfile: "manual" });
  await expect(run).rejects.toMatchObject({ code: "awaiting_input" });
  const agents = await world.restart();
  const plan = String((await agents.run("plan.list", {})).plans[0]?.planId);
  await agents.run("plan.prompt", { plan, text: "blue" });
  const done = await agents.run("plan.execute", { plan });
  expect(done).toMatchObject({ state: "complete", answer: "It is blue." });
  const prompt = promptOf(world.requests.at(-1));
  expect(prompt).toContain("You asked: Which color do you want, red or blue?");
  expect(prompt).toContain("The user answers: blue");
  expect(world.requests.filter((request) => !promptOf(request).includes("# Since you began"))).toHaveLength(1);
});
