/**
 * Outside agents that are killed, alone or together with us: three plans at once in one repository, beside a human who
 * commits. Recorded rounds stay, no recorded answer is asked for twice, base and record make the sandbox byte for byte,
 * every change has the answer that made it, and nothing keeps running.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { WireAnswer, WireRequest } from "../actors/testing/wires/wire.ts";
import { git } from "../testing/git-repository.ts";
import { seededRandom } from "../testing/random.ts";
import { sized } from "../testing/size.ts";
import { commandLine, processesAt } from "./testing/agent-processes.ts";
import { recordedPlan, replayed, treeAt } from "./testing/outside-oracle.ts";
import { PRICE } from "./testing/gateway-world.ts";
import { answersIn, bash, OutsideWorld, put, tiny, write } from "./testing/outside-world.ts";
import { Asked, underFire, type PlanUnderFire } from "./testing/plans-under-fire.ts";

const KILLS = sized({ quick: 3, normal: 25, full: 300 });
const MOST_KILLS_OF_ONE = 3;
const ROUNDS = 4;
const DIALECTS = ["anthropic", "openai-responses", "openai-chat"] as const;
const KINDS = ["run", "acp"] as const;
/** The first two plans of a group change one file. */
const LINES = ["alpha", "beta"] as const;

/** The word that each plan has for itself; files of earlier plans are named in the prompt too. */
function wordOf({ messages }: WireRequest): string {
  const [first] = messages;
  const text = first?.role === "user" ? first.text : "";
  return /# Goal\n\n(word-[\w-]+)/.exec(text)?.[1] ?? "";
}

interface Work extends PlanUnderFire {
  readonly word: string;
  readonly kind: (typeof KINDS)[number];
  readonly actor: string;
  /** The line of the file that the plan shares with another one; undefined for a file of its own. */
  readonly line: string | undefined;
  readonly shared: string;
}

type Script = readonly Exclude<WireAnswer, { readonly status: number }>[];

/** Each round is left half done for a moment, and the second one leaves a process behind. */
function scriptOf({ word, kind, line, shared }: Pick<Work, "word" | "kind" | "line" | "shared">): Script {
  const made = kind === "run" ? write : put;
  const run = (command: string) => (kind === "run" ? bash(command) : tiny("run", { command }));
  const added = (text: string): string =>
    line === undefined ? `echo ${text} >> ${word}.txt` : `sed -i 's/^${line}:.*/& ${text}/' ${shared}`;
  const both = (at: number) => [
    made(`${word}/${at}.txt`, `${at}\n`),
    run(`${added(`${at}`)}; sleep 0.1; ${added("x")}`),
  ];
  return [
    { text: "Round 0.", calls: both(0) },
    { text: "Round 1.", calls: [...both(1), run("sleep 600 > /dev/null 2>&1 &")] },
    { text: "Round 2.", calls: [run(`rm ${word}/0.txt; sleep 0.1; chmod +x ${word}/1.txt; ln -s 1.txt ${word}/link`)] },
    { text: "Round 3.", calls: both(3) },
    { text: `Done with ${word}.` },
  ];
}

/** The record of all changes: path, call and answer, in the order in which they were made. */
function expectedCredits(work: Work): readonly (readonly [path: string, tool: string, answer: number])[] {
  const { word, line, shared, actor, kind } = work;
  const all = line === undefined ? `${word}.txt` : shared;
  const [writes, runs] = [`acp:${actor}/write`, `acp:${actor}/${kind === "run" ? "bash" : "run"}`];
  const both = (at: number) => [[`${word}/${at}.txt`, writes, at] as const, [all, runs, at] as const];
  const third = ["0.txt", "1.txt", "link"].map((name) => [`${word}/${name}`, runs, 2] as const);
  return [...both(0), ...both(1), ...third, ...both(3)];
}

const ADDED = "0 x 1 x 3 x";

/** Commits now and then, and has work of their own in the checkout all the time. */
class Human {
  readonly #world: OutsideWorld;
  readonly #shared: string;
  #commits = 0;
  #last = "";

  constructor(world: OutsideWorld, shared: string) {
    this.#world = world;
    this.#shared = shared;
    world.commit({
      [shared]: ["human:", ...LINES].map((name) => `${name.replace(/:?$/, ":")}\n1\n2\n3\n4\n5\n`).join(""),
    });
    writeFileSync(join(world.repository, "a.txt"), `one\ntwo\nchanged for ${shared}\n`);
    writeFileSync(join(world.repository, `notes-${shared}`), "not committed\n");
    this.#last = git(world.repository, "rev-parse", "HEAD").trim();
  }

  async worksUntil(done: Promise<unknown>): Promise<void> {
    let over = false;
    void done.finally(() => (over = true)).catch(() => undefined);
    for (; !over; await Promise.race([sleep(700), done.catch(() => undefined)])) this.commit();
  }

  commit(): void {
    const { repository } = this.#world;
    if (git(repository, "rev-parse", "HEAD").trim() !== this.#last) throw new Error("another commit is on the branch");
    this.#commits += 1;
    const path = join(repository, this.#shared);
    writeFileSync(path, readFileSync(path, "utf8").replace(/^human:.*$/m, `human: ${this.#commits}`));
    git(repository, "commit", "-qm", `human ${this.#commits}`, this.#shared);
    this.#last = git(repository, "rev-parse", "HEAD").trim();
  }

  /** The work that is not committed, after a plan was applied or undone. */
  sees(): { readonly changed: string; readonly made: string; readonly status: string } {
    const { repository } = this.#world;
    this.#last = git(repository, "rev-parse", "HEAD").trim();
    return {
      changed: readFileSync(join(repository, "a.txt"), "utf8"),
      made: readFileSync(join(repository, `notes-${this.#shared}`), "utf8"),
      status: git(repository, "status", "--porcelain"),
    };
  }

  get own(): ReturnType<Human["sees"]> {
    const shared = this.#shared;
    return {
      changed: `one\ntwo\nchanged for ${shared}\n`,
      made: "not committed\n",
      status: ` M a.txt\n?? notes-${shared}\n`,
    };
  }

  line(name: string): string {
    const text = readFileSync(join(this.#world.repository, this.#shared), "utf8");
    const found = new RegExp(`^${name}:(.*)$`, "m").exec(text)?.[1] ?? "missing";
    return name === "human" && found.trim() === `${this.#commits}` ? "the last" : found.trim();
  }
}

type Works = Map<string, Work & { readonly script: Script }>;

class Fire implements AsyncDisposable {
  readonly world: OutsideWorld;
  readonly random: () => number;
  /** Questions that came without money having been set aside for them. */
  readonly unreserved: string[] = [];
  readonly #works: Works;

  private constructor(world: OutsideWorld, random: () => number, works: Works) {
    this.world = world;
    this.random = random;
    this.#works = works;
  }

  static async open(random: () => number): Promise<Fire> {
    const works: Works = new Map();
    const world: OutsideWorld = await OutsideWorld.open(async (request) => {
      const work = works.get(wordOf(request));
      if (work === undefined) return { text: "Nothing to do." };
      const position = request.tools.length === 0 ? "title" : answersIn(request);
      work.asked.count(position);
      if ((await reservationsOf(world, work.id)) < work.asked.total) fire.unreserved.push(wordOf(request));
      await sleep(work.random() * 40);
      return position === "title" ? { text: "A title" } : (work.script[position] ?? { text: "Done." });
    });
    const fire: Fire = new Fire(world, random, works);
    await fire.#prepare();
    return fire;
  }

  async #prepare(): Promise<void> {
    await this.world.configure();
    for (const dialect of DIALECTS)
      for (const speaks of KINDS)
        await this.world.add({
          name: `${dialect}-${speaks}`,
          dialect,
          speaks,
          habits: "stream,title",
          variables: { TINY_TITLE: "1" },
        });
    // Makes the project and the action.
    await this.world.run("nothing", { actor: "local/anthropic-acp" });
  }

  async plan(group: number, index: number): Promise<Work> {
    const agents = await this.world.agents();
    const kind = this.random() < 0.5 ? "run" : "acp";
    const actor = `${DIALECTS[index] ?? "anthropic"}-${kind}`;
    const about = { word: `word-${group}-${index}`, kind, line: LINES[index], shared: `shared-${group}.txt` } as const;
    const { planId: id } = await agents.run("plan.use", {
      action: "local/run",
      projects: ["local/shop"],
      arguments: { request: about.word },
      executionActor: `local/${actor}`,
      automationProfile: "trusted",
      directory: this.world.repository,
    });
    const random = seededRandom(Math.floor(this.random() * 2 ** 32));
    const root = this.world.sandbox(id);
    const begun = (): number => 1 + [0, 1, 2, 3].findLastIndex((at) => existsSync(join(root, about.word, `${at}.txt`)));
    // The agent, or what confines it. One that outlives its command goes on with half of what the command was to do,
    // and that is on record.
    const victim = about.kind === "run" ? "small-agent" : "tiny-agent";
    const work = { ...about, id, actor, victim, asked: new Asked(), random, begun };
    this.#works.set(work.word, { ...work, script: scriptOf(work) });
    return work;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world[Symbol.asyncDispose]();
  }
}

/** Of a plan that is carried out and not applied. */
async function requireExact({ world }: Fire, work: Work, kills: number): Promise<void> {
  const recorded = await world.reading((reader) => recordedPlan(reader, work.id));
  expect(treeAt(world.sandbox(work.id))).toEqual(replayed(world.repository, recorded));
  const script = scriptOf(work);
  const credits = recorded.changes.map(({ path, tool, answer }) => [path, tool, answer]);
  // The order of changes of one call is that of their paths.
  expect(credits).toEqual(expectedCredits(work).map(([path, tool, at]) => [path, tool, `ask:run-agent/acp-${at + 1}`]));
  for (const { chosen, reasoning, answer, outcome } of recorded.changes) {
    const said = script[Number(answer.split("-").at(-1)) - 1];
    const calls = (said?.calls ?? []).map(({ name, input }) => ({ tool: name, params: input }));
    expect(JSON.parse(chosen)).toEqual({ calls });
    expect([JSON.parse(reasoning ?? "null"), outcome]).toEqual([said?.text, "ok"]);
  }
  // A kill loses one question at most, and each question of the script was answered and recorded once.
  expect(work.asked.questions).toHaveLength(ROUNDS + 1);
  expect(work.asked.total).toBeLessThanOrEqual(ROUNDS + 2 + kills);
  await requireBilled(world, work);
}

async function reservationsOf(world: OutsideWorld, plan: string): Promise<number> {
  const rows = await world.reading((reader) => reader.all("SELECT id FROM reservations WHERE plan_id = ?", plan));
  return rows.length;
}

/** Each answer has one call on the bill; a question whose answer was lost is assumed to have cost the most it could. */
async function requireBilled(world: OutsideWorld, { id, word }: Work): Promise<void> {
  const { calls, money } = await world.reading(async (reader) => ({
    calls: await reader.all("SELECT id FROM model_calls WHERE plan_id = ? AND error IS NULL", id),
    money: await reader.all<{ sum: number }>(
      "SELECT spent + reserved AS sum FROM spending WHERE scope = ?",
      `plan:${id}`,
    ),
  }));
  expect(calls).toHaveLength(ROUNDS + 2);
  const goal = `# Goal\\n\\n${word}\\n`;
  const log = world.server.log.filter(({ body }) => JSON.stringify(body).includes(goal));
  expect(log.map(({ refused }) => refused)).toEqual(log.map(() => undefined));
  const used = log.reduce(
    (sum, { usage }) => sum + (usage?.input ?? 0) * PRICE.input + (usage?.output ?? 0) * PRICE.output,
    0,
  );
  const counted = money[0]?.sum ?? 0;
  expect(counted).toBeGreaterThanOrEqual(used);
  // One that was reserved, and killed before it was sent, counts as spent too.
  if ((await reservationsOf(world, id)) === ROUNDS + 2) expect(counted).toBe(used);
}

/** All three land, and one of the two that changed the same file is undone alone. */
async function requireLanding({ world, random }: Fire, works: readonly Work[], human: Human): Promise<void> {
  const agents = await world.agents();
  for (const { id } of works.toSorted(() => random() - 0.5)) {
    expect(await agents.run("plan.apply", { plan: id }, { answers: "program" })).toMatchObject({ state: "applied" });
    expect(human.sees()).toEqual(human.own);
    human.commit();
  }
  expect(["human", ...LINES].map((line) => human.line(line))).toEqual(["the last", ADDED, ADDED]);
  const [undone, kept] = random() < 0.5 ? [0, 1] : [1, 0];
  expect(await agents.run("plan.undo", { plan: works[undone]?.id ?? "" }, { answers: "program" })).toMatchObject({
    undone: true,
  });
  expect(human.sees()).toEqual(human.own);
  expect(["human", ...LINES].map((line) => human.line(line))).toEqual(
    undone === 0 ? ["the last", "", ADDED] : ["the last", ADDED, ""],
  );
  const there = works.map(({ word }) => existsSync(join(world.repository, word, "3.txt")));
  expect(there).toEqual([undone !== 0, undone !== 1, true]);
  expect(readFileSync(join(world.repository, `${works[2]?.word}.txt`), "utf8")).toBe(
    `${ADDED.replaceAll(" ", "\n")}\n`,
  );
  expect(works[kept] === undefined ? "" : treeAt(join(world.repository, works[kept].word))).toMatchObject({
    "1.txt": { mode: "100755" },
    link: { mode: "120000" },
  });
}

/** Processes in which servers of agents' networks are made. */
function listeners({ directory }: OutsideWorld): number[] {
  return processesAt(directory).filter((pid) => commandLine(pid).includes("createServer"));
}

/** Neither branches, tags, stashes nor worktrees; only what pins the bases of plans. */
function requireCleanRepository({
  repository,
  refs,
}: {
  readonly repository: string;
  readonly refs: readonly string[];
}): void {
  expect(refs).toEqual(["refs/heads/main"]);
  expect(git(repository, "worktree", "list").trim().split("\n")).toHaveLength(1);
  expect(existsSync(join(repository, ".git/worktrees"))).toBe(false);
}

test(
  `${KILLS} kills among three plans at once beside a human: nothing is lost, misattributed, asked twice or left running`,
  { timeout: 60_000 + KILLS * 20_000 },
  async () => {
    const seed = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Date.now() % 1_000_000);
    console.log(`seed ${seed}`);
    const random = seededRandom(seed);
    await using fire = await Fire.open(random);
    const { world } = fire;
    for (let kills = 0, group = 1; kills < KILLS; group += 1) {
      const human = new Human(world, `shared-${group}.txt`);
      const works: Work[] = [];
      for (let index = 0; index < DIALECTS.length; index += 1) works.push(await fire.plan(group, index));
      const all = Promise.all(
        works.map((work) => underFire(work, Math.ceil(work.random() * MOST_KILLS_OF_ONE), world.surroundings)),
      );
      await human.worksUntil(all);
      const killed = await all;
      for (const [index, work] of works.entries()) await requireExact(fire, work, killed[index] ?? 0);
      expect(fire.unreserved).toEqual([]);
      await requireLanding(fire, works, human);
      requireCleanRepository({ repository: world.repository, refs: world.refs() });
      kills += killed.reduce((sum, one) => sum + one, 0);
      // Also what gives an agent its network, which works in the user's repository.
      await expect.poll(() => listeners(world), { timeout: 20_000 }).toEqual([]);
    }
  },
);

test("a title that is on record is not asked for again, although each process asks under another id", async () => {
  let titles = 0;
  let refused = false;
  await using world = await OutsideWorld.open(({ tools }) => {
    if (tools.length === 0) {
      titles += 1;
      return { text: "A title" };
    }
    if (refused) return { text: "Done." };
    refused = true;
    return { status: 400, message: "not today" };
  });
  await world.add({ habits: "title" });
  await expect(world.run("name it")).rejects.toMatchObject({ code: "agent_failed" });
  const agents = await world.agents();
  const [plan] = (await agents.run("plan.list", {})).plans;
  expect(await agents.run("plan.execute", { plan: String(plan?.planId) })).toMatchObject({ answer: "Done." });
  expect(titles).toBe(1);
});

test("no call is seen before its answer is on record: one that breaks off after a call changes nothing", async () => {
  let broken = 0;
  await using world = await OutsideWorld.open((request) => {
    if (answersIn(request) > 0) return { text: "Done." };
    if (broken > 0) return { calls: [write("c.txt", "c\n")] };
    broken += 1;
    return { calls: [write("a/1.txt", "1\n"), write("a/2.txt", "2\n")], breaksOff: true };
  });
  await world.add({ dialect: "openai-responses", habits: "stream,eager" });
  expect(await world.run("write")).toMatchObject({ state: "complete", changes: { files: 1 } });
  expect(broken).toBe(1);
  expect((await world.credits()).map(({ path, tool }) => [path, tool])).toEqual([["c.txt", "acp:helper/write"]]);
});

test("an agent that draws by lot is put in place: it goes on from the recorded files, with a handover", async () => {
  const asked: WireRequest[] = [];
  await using world = await OutsideWorld.open((request) => {
    asked.push(request);
    const at = answersIn(request);
    if (asked.length === 3) return { status: 400, message: "not today" };
    if (at < 2 && asked.length < 4) return { calls: [write(`${at}.txt`, "drawn ")] };
    return { text: "Done from here." };
  });
  await world.add({ habits: "lot" });
  await expect(world.run("draw")).rejects.toMatchObject({ code: "agent_failed" });
  const first = await world.credits();
  expect(first.map(({ path }) => path)).toEqual(["0.txt", "1.txt"]);
  const agents = await world.agents();
  const [plan] = (await agents.run("plan.list", {})).plans;
  const done = await agents.run("plan.execute", { plan: String(plan?.planId) });
  expect(done).toMatchObject({ state: "complete", answer: "Done from here." });
  expect(await world.credits()).toEqual(first);
  const last = asked.at(-1)?.messages[0];
  expect(last?.role === "user" ? last.text : "").toContain("Another process of you began this step");
  expect(await agents.run("plan.apply", { plan: String(plan?.planId) }, { answers: "program" })).toMatchObject({
    state: "applied",
  });
});

test("an agent that begins each conversation with the time gets all answers again, also after it failed twice", async () => {
  const asked = [0, 0, 0, 0];
  await using world = await OutsideWorld.open((request) => {
    const at = answersIn(request);
    asked[at] = (asked[at] ?? 0) + 1;
    if ((at === 1 || at === 2) && asked[at] === 1) return { status: 400, message: "not today" };
    return at < 3 ? { calls: [bash(`echo ${at} >> all.txt`)] } : { text: "Done." };
  });
  await world.add({ habits: "clock" });
  await expect(world.run("write the time")).rejects.toMatchObject({ code: "agent_failed" });
  const agents = await world.agents();
  const plan = String((await agents.run("plan.list", {})).plans[0]?.planId);
  await expect(agents.run("plan.execute", { plan })).rejects.toMatchObject({ code: "agent_failed" });
  expect(await agents.run("plan.execute", { plan })).toMatchObject({ state: "complete" });
  // The two that the endpoint refused, once more.
  expect(asked).toEqual([1, 2, 2, 1]);
  expect((await world.credits()).map(({ path }) => path)).toEqual(["all.txt", "all.txt", "all.txt"]);
});
