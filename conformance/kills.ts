/**
 * Three agents of other makers at once in one repository, beside a human who commits, two of them in one file, killed
 * at random: the agent, our process, or both. Afterwards base and record must make each sandbox byte for byte, every
 * change must have the answer that made it, no recorded answer may have been asked for twice, nothing may be left
 * running, and the three must land and be undone one by one.
 *
 *   npm run conformance:kills                 25 kills
 *   npm run conformance:kills -- --kills 100
 *
 * The agents are those of `npm run conformance`, which installs them. One that is missing is left out with a word.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { installedAgents } from "../src/actors/outside/installed-agents.ts";
import { recordedPlan, replayed, treeAt } from "../src/app/testing/outside-oracle.ts";
import { OutsideWorld } from "../src/app/testing/outside-world.ts";
import { Asked, underFire, type PlanUnderFire } from "../src/app/testing/plans-under-fire.ts";
import type { AgentName } from "../src/domain/names/agent-names.ts";
import { git } from "../src/testing/git-repository.ts";
import { seededRandom } from "../src/testing/random.ts";
import { AGENT_TOOLS } from "./agent-tools.ts";
import { modelServer, type ModelQuestion, type ModelSaid } from "./model-server.ts";

interface Tried {
  readonly agent: AgentName;
  readonly model: string;
  readonly program: string;
}

/** `program` is in the command line of the process that is killed: pi-acp waits for ever for a pi that is gone. */
const AGENTS: readonly [Tried, ...Tried[]] = [
  { agent: "codex", model: "openai/a-model", program: "codex-acp" },
  { agent: "pi", model: "openai/a-model", program: "pi-acp" },
  { agent: "claude", model: "anthropic/a-model", program: "claude-agent-acp" },
];
const CACHE = join(tmpdir(), "cleveragents-conformance");
const MOST_KILLS_OF_ONE = 4;
/** Beside our own small agents. */
const SLOWNESS = 6;
/** The first two agents change one file. */
const LINES = ["alpha", "beta"] as const;
const ADDED = "0 x 1 x 3 x";

const { values } = parseArgs({ options: { kills: { type: "string", default: "25" }, seed: { type: "string" } } });
const most = Number(values.kills);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const random = seededRandom(seed);

interface Work extends PlanUnderFire {
  readonly agent: AgentName;
  readonly word: string;
  readonly script: readonly ModelSaid[];
}

const path = [process.env["PATH"] ?? "", ...cachedPrograms()].join(":");
const environment = { ...process.env, PATH: path };
const there = installedAgents({ settings: new Map(), environment }).map(({ agent }) => agent);
const agents = AGENTS.filter(({ agent }) => there.includes(agent));
for (const { agent } of AGENTS)
  if (!there.includes(agent)) console.log(`${agent} is left out: \`npm run conformance -- ${agent}\` installs it`);
if (agents.length < 2) {
  console.log("kills: skipped, two agents are needed");
  process.exit(0);
}

const works = new Map<string, Work>();
await using server = await modelServer(answered);
await using world = OutsideWorld.before(server, environment);
await world.configure(Object.fromEntries(agents.map(({ agent, model }) => [`acp.${agent}.model`, model])));
// Makes the project and the action.
await world.run("nothing", { actor: `acp/${agents[0]?.agent}` });
console.log(`seed ${seed}: ${agents.map(({ agent }) => agent).join(", ")}`);
const begun = performance.now();
let kills = 0;
for (let group = 1; kills < most; group += 1) {
  kills += await inGroup(group);
  console.log(`${kills} kills, ${group} groups of plans, ${Math.round((performance.now() - begun) / 1_000)} s`);
}
const questions = [...works.values()].reduce((sum, { asked }) => sum + asked.total, 0);
const needed = [...works.values()].reduce(
  (sum, { asked, script }) => sum + script.length + Math.min(asked.titles, 1),
  0,
);
console.log(`kills: ${kills} kills of ${works.size} plans: all exact; ${questions} questions, ${needed} without kills`);

function cachedPrograms(): string[] {
  const installed = existsSync(CACHE) ? readdirSync(CACHE) : [];
  return installed.map((name) => join(CACHE, name, "node_modules", ".bin"));
}

async function answered(question: ModelQuestion): Promise<ModelSaid> {
  const word = /# Goal\\n\\n(word-\d+-\d+)/.exec(question.text)?.[1] ?? "";
  const work = works.get(word);
  if (work === undefined) return { text: "Nothing to do." };
  const position = question.tools.length === 0 ? "title" : question.answered;
  work.asked.count(position);
  await sleep(work.random() * 100);
  return position === "title" ? { text: "A title" } : (work.script[position] ?? { text: "Done." });
}

/** Returns how many kills there were. */
async function inGroup(group: number): Promise<number> {
  const shared = `shared-${group}.txt`;
  world.commit({ [shared]: ["human", ...LINES].map((name) => `${name}:\n1\n2\n3\n4\n5\n`).join("") });
  writeFileSync(join(world.repository, "notes.txt"), `not committed ${group}\n`);
  const all: Work[] = [];
  for (const [index] of agents.entries()) all.push(await planned(group, index, shared));
  let over = false;
  const fired = Promise.all(
    all.map((work) => underFire(work, Math.ceil(work.random() * MOST_KILLS_OF_ONE), around())),
  ).finally(() => (over = true));
  let commits = 0;
  for (; !over; await Promise.race([sleep(2_000), fired.catch(() => undefined)])) commit(shared, (commits += 1));
  const killed = await fired;
  for (const work of all) await requireExact(work);
  const applying = await world.agents();
  for (const { id } of all) {
    await applying.run("plan.apply", { plan: id }, { answers: "program" });
    commit(shared, (commits += 1));
  }
  same(linesOf(shared), [`${commits}`, ADDED, ADDED], "the file of two agents and the human");
  await applying.run("plan.undo", { plan: all[0]?.id ?? "" }, { answers: "program" });
  same(linesOf(shared), [`${commits}`, "", ADDED], "the file after the first agent's plan was undone");
  same(readFileSync(join(world.repository, "notes.txt"), "utf8"), `not committed ${group}\n`, "the human's notes");
  same(world.refs(), ["refs/heads/main"], "refs");
  same(git(world.repository, "worktree", "list").trim().split("\n").length, 1, "worktrees");
  return killed.reduce((sum, one) => sum + one, 0);
}

async function planned(group: number, index: number, shared: string): Promise<Work> {
  const { agent, program: victim } = agents[index] ?? AGENTS[0];
  const word = `word-${group}-${index}`;
  const here = await world.agents();
  const { planId: id } = await here.run("plan.use", {
    action: "local/run",
    projects: ["local/shop"],
    arguments: { request: word },
    executionActor: `acp/${agent}`,
    automationProfile: "trusted",
    directory: world.repository,
  });
  const root = world.sandbox(id);
  const { run, write } = AGENT_TOOLS[agent];
  const line = LINES[index];
  const added = (text: string): string =>
    line === undefined ? `echo ${text} >> ${word}.txt` : `sed -i 's/^${line}:.*/& ${text}/' ${shared}`;
  const edit = (at: number) => run(`${added(`${at}`)}; sleep 0.3; ${added("x")}`);
  const made = (at: number) => write(join(root, word, `${at}.txt`), `${at}\n`);
  const script: ModelSaid[] = [
    { text: "Round 0.", calls: [made(0)] },
    { text: "Round 1.", calls: [edit(0)] },
    { text: "Round 2.", calls: [made(1)] },
    { text: "Round 3.", calls: [edit(1)] },
    { text: "Round 4.", calls: [run(`rm ${word}/0.txt; sleep 0.3; chmod +x ${word}/1.txt; ln -s 1.txt ${word}/link`)] },
    { text: "Round 5.", calls: [edit(3)] },
    { text: `Done with ${word}.` },
  ];
  const begun = (): number =>
    existsSync(join(root, word, "1.txt")) ? 3 : existsSync(join(root, word, "0.txt")) ? 1 : 0;
  const own = seededRandom(Math.floor(random() * 2 ** 32));
  const work = { id, agent, word, victim, script, asked: new Asked(), random: own, begun };
  works.set(word, work);
  return work;
}

function around(): Parameters<typeof underFire>[2] {
  return { ...world.surroundings, slowness: SLOWNESS };
}

function commit(shared: string, number: number): void {
  const file = join(world.repository, shared);
  writeFileSync(file, readFileSync(file, "utf8").replace(/^human:.*$/m, `human: ${number}`));
  git(world.repository, "commit", "-qm", `human ${number}`, shared);
}

function linesOf(shared: string): string[] {
  const text = readFileSync(join(world.repository, shared), "utf8");
  return ["human", ...LINES].map((name) => (new RegExp(`^${name}:(.*)$`, "m").exec(text)?.[1] ?? "missing").trim());
}

async function requireExact({ id, word, script, agent, asked }: Work): Promise<void> {
  const recorded = await world.reading((reader) => recordedPlan(reader, id));
  same(treeAt(world.sandbox(id)), replayed(world.repository, recorded), `${agent}: base and record, and the sandbox`);
  for (const { path: changed, chosen, answer } of recorded.changes) {
    const said = script[Number(answer.split("-").at(-1)) - 1];
    const { calls }: { calls: { params: unknown }[] } = JSON.parse(chosen);
    same(
      calls.map(({ params }) => params),
      (said?.calls ?? []).map(({ input }) => input),
      `${agent}: the decision of ${changed}`,
    );
    const names = JSON.stringify(said?.calls ?? "").includes(changed);
    same(names, true, `${agent}: ${changed} is credited to answer ${answer}`);
  }
  const changes = recorded.changes.map(({ path: changed }) => changed.replace(/^.*\//, ""));
  const file = recorded.changes[1]?.path ?? "";
  same(changes, ["0.txt", file, "1.txt", file, "0.txt", "1.txt", "link", file], `${agent}: what ${word} changed`);
  same(asked.questions.length, script.length, `${agent}: answers`);
}

function same(is: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(is, expected)) return;
  throw new Error(`seed ${seed}, ${what}: ${JSON.stringify(is)} instead of ${JSON.stringify(expected)}`);
}
