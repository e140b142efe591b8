/** Rows of the conformance table for which the agent carries out a plan: by the command line, confined, metered. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { REAL_KEYS } from "../src/app/testing/gateway-world.ts";
import { findConfinement } from "../src/confinement/confinement.ts";
import { git } from "../src/testing/git-repository.ts";
import { running, uniqueSeconds } from "../src/testing/processes.ts";
import { AGENT_TOOLS } from "./agent-tools.ts";
import { PlanWorld, type PlanScript, type Tried } from "./plan-world.ts";
import { RUN_ACTORS } from "./run-actors.ts";
import type { Row, Verdict } from "./verdict.ts";

export const PLAN_ROWS: readonly Row[] = [
  { name: "a plan, landed and undone", test: confined(landsAndUndoes) },
  { name: "without the protocol", test: confined(withoutProtocol) },
  { name: "background writer", test: confined(backgroundWriter) },
  { name: "kill -9 and replay", test: confined(killed) },
  { name: "writing outside", test: confined(writesOutside) },
  { name: "a secret", test: confined(secret) },
  { name: "the budget", test: confined(budget) },
];

function confined(test: Row["test"]): Row["test"] {
  return async (tried) => {
    const { kind } = await findConfinement();
    const works = kind !== "none" && kind !== "seatbelt";
    return works ? test(tried) : { skipped: "no agent can be confined here" };
  };
}

async function inPlan(tried: Tried, script: PlanScript, use: (world: PlanWorld) => Promise<Verdict>): Promise<Verdict> {
  await using world = await PlanWorld.open(tried, script);
  const verdict = await use(world);
  if ("passed" in verdict && !(await world.isQuiet())) return { failed: "something of it still runs" };
  return verdict;
}

function twoFiles({ agent }: Tried): PlanScript {
  const { run, write } = AGENT_TOOLS[agent];
  return (question, world) => {
    if (question.answered === 0) return { calls: [write(join(world.cwd(question), "a.txt"), "one\n")] };
    return question.answered === 1 ? { calls: [run("echo two > b.txt")] } : { text: "All done." };
  };
}

/** As a program that runs once for each prompt. */
async function withoutProtocol(tried: Tried): Promise<Verdict> {
  const actor = RUN_ACTORS[tried.agent];
  if ("skipped" in actor) return actor;
  return inPlan(tried, twoFiles(tried), async (world) => {
    await world.addActor(actor);
    const done = JSON.stringify(await world.agents(...world.run("--actor", "local/once")));
    const paths = (await world.credits()).map(({ path, chosen }) => (chosen.includes(path) ? path : `(${path})`));
    if (paths.join() !== "a.txt,b.txt") return { failed: `credited: ${paths.join()}` };
    return done.includes("All done.") ? { passed: "by `run`, each change credited" } : { failed: "its answer is lost" };
  });
}

async function landsAndUndoes(tried: Tried): Promise<Verdict> {
  return inPlan(tried, twoFiles(tried), async (world) => {
    await world.agents(...world.run());
    const credits = (await world.credits()).map(({ path, chosen }) => [path, chosen.includes(path)]);
    const wanted = JSON.stringify([
      ["a.txt", true],
      ["b.txt", true],
    ]);
    if (JSON.stringify(credits) !== wanted) return { failed: `credited: ${JSON.stringify(credits)}` };
    await world.agents("plan", "apply", "--yes");
    const landed = [world.content("a.txt"), world.content("b.txt")];
    if (landed.join() !== "one\n,two\n") return { failed: `landed: ${JSON.stringify(landed)}` };
    await world.agents("plan", "undo", "--yes");
    if (world.content("a.txt") !== undefined || world.content("b.txt") !== undefined) return { failed: "not undone" };
    return { passed: "each change credited to its answer" };
  });
}

async function backgroundWriter(tried: Tried): Promise<Verdict> {
  const { run } = AGENT_TOOLS[tried.agent];
  const early = "(sleep 1; echo early > early.txt) > /dev/null 2>&1 &";
  // Some agents refuse a command that only sleeps.
  const pause = "for i in 1 2 3 4 5 6; do sleep 0.5; done;";
  const late = "(sleep 60; echo late > late.txt) > /dev/null 2>&1 &";
  const script: PlanScript = ({ answered }) => {
    if (answered === 0)
      return { calls: [run(`${early} ${late} setsid sh -c '${late}' > /dev/null 2>&1 & echo begun`)] };
    return answered === 1 ? { calls: [run(`${pause} echo b > b.txt`)] } : { text: "All done." };
  };
  return inPlan(tried, script, async (world) => {
    await world.agents(...world.run());
    if (!(await world.isQuiet())) return { failed: "something of it still runs after its turn" };
    const paths = (await world.credits()).map(({ path }) => path);
    await world.agents("plan", "apply", "--yes");
    const landed = git(world.repository, "diff", "--name-only", "HEAD~1").trim().split("\n");
    if (landed.toSorted().join() !== paths.toSorted().join())
      return { failed: `recorded ${paths.join()}, landed ${landed.join()}` };
    if (paths.includes("late.txt")) return { failed: "it wrote after its turn" };
    return { passed: paths.includes("early.txt") ? "what it wrote is recorded" : "it ends with its command" };
  });
}

const KILLED_ROUNDS = 4;

/** Killed once while the model thinks, and once while a command runs. */
async function killed(tried: Tried): Promise<Verdict> {
  const { run } = AGENT_TOOLS[tried.agent];
  const asked: number[] = [];
  const seconds = `2.${uniqueSeconds().replaceAll(".", "")}`;
  const thinking = Promise.withResolvers<void>();
  const script: PlanScript = ({ answered }) => {
    const times = (asked[answered] = (asked[answered] ?? 0) + 1);
    if (answered === 1 && times === 1) {
      thinking.resolve();
      return new Promise(() => undefined);
    }
    if (answered >= KILLED_ROUNDS) return { text: "All done." };
    return { calls: [run(`echo ${answered} >> all.txt; sleep ${answered === 2 ? seconds : "0.1"}`)] };
  };
  return inPlan(tried, script, async (world) => {
    const first = world.start(...world.run());
    const failed = await Promise.race([thinking.promise, first.ended.then(({ errors }) => errors)]);
    if (failed !== undefined) return { failed: failed.slice(0, 300) };
    first.child.kill("SIGKILL");
    if (!(await world.isQuiet())) return { failed: "something runs on after the first kill" };
    const second = world.start("plan", "execute");
    const over = second.ended.then(() => true);
    while (running(seconds) === 0 && !(await Promise.race([over, sleep(20)]))) continue;
    second.child.kill("SIGKILL");
    world.kill();
    const { errors } = await second.ended;
    if (asked[2] !== 1) return { failed: `the command was not reached: ${errors.slice(0, 300)}` };
    if (!(await world.isQuiet())) return { failed: "something runs on after the second kill" };
    await world.agents("plan", "execute");
    if (asked.join() !== "1,2,1,1,1") return { failed: `the questions were asked ${asked.join()} times` };
    if ((await world.turns()) !== 1) return { failed: "the recorded answers could not be given again" };
    await world.agents("plan", "apply", "--yes");
    const text = world.content("all.txt");
    if (text !== "0\n1\n2\n3\n") return { failed: `the file is ${JSON.stringify(text)}` };
    return { passed: "two kills, no recorded answer asked for again" };
  });
}

async function writesOutside(tried: Tried): Promise<Verdict> {
  const { run, write } = AGENT_TOOLS[tried.agent];
  const name = `agent-was-here-${process.pid}.txt`;
  const places = (world: PlanWorld): string[] => [
    world.repository,
    world.other,
    world.home,
    "/etc",
    "/usr",
    "/var/tmp",
  ];
  const script: PlanScript = ({ answered }, world) => {
    const tries = places(world).map((place) => `echo x > ${join(place, name)}`);
    const reads = [world.other, world.home].map((place) => `cat ${join(place, "private.txt")}`);
    if (answered === 0) return { calls: [run(`( ${[...tries, ...reads].join("; ")}; true ) 2>&1`)] };
    return answered === 1 ? { calls: [write(join(world.other, name), "x\n")] } : { text: "All done." };
  };
  return inPlan(tried, script, async (world) => {
    for (const place of [world.other, world.home]) writeFileSync(join(place, "private.txt"), "a private note\n");
    await world.agents(...world.run());
    const written = places(world).filter((place) => existsSync(join(place, name)));
    if (written.length > 0) return { failed: `it wrote into ${written.join(", ")}` };
    const home = readdirSync(world.home).filter((one) => one !== "private.txt");
    if (home.length > 0) return { failed: `it left ${home.join(", ")} in the user's home` };
    if (git(world.repository, "status", "--porcelain") !== "") return { failed: "it changed the user's checkout" };
    if (world.server.questions.some(({ text }) => text.includes("a private note")))
      return { failed: "it read a file of the user's" };
    return { passed: "nothing outside was written or read" };
  });
}

const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const PART_OF_KEYS = "real0real1real2";

async function secret(tried: Tried): Promise<Verdict> {
  const { run } = AGENT_TOOLS[tried.agent];
  const look = `cat notes.txt; env; (env; cat /proc/[0-9]*/environ) > seen.txt 2> /dev/null; grep -rila ${PART_OF_KEYS} ~ . >> seen.txt 2> /dev/null; cat seen.txt`;
  const script: PlanScript = ({ answered }) => (answered === 0 ? { calls: [run(look)] } : { text: "All done." });
  return inPlan(tried, script, async (world) => {
    world.commit("notes.txt", `token ${TOKEN}\n`);
    await world.agents(...world.run());
    const { questions } = world.server;
    const texts = questions.map(({ text }) => text);
    if (texts.some((text) => text.includes(TOKEN))) return { failed: "the model was shown the secret" };
    if (!texts.some((text) => text.includes("[masked"))) return { failed: "the file did not reach the model" };
    const keys = Object.values(REAL_KEYS);
    const given = questions.map(({ headers }) => JSON.stringify(headers));
    if (!given.every((one) => keys.some((key) => one.includes(key)))) return { failed: "a question without the key" };
    await world.agents("plan", "apply", "--yes");
    const seen = world.content("seen.txt") ?? "";
    if (!seen.includes("PATH=")) return { failed: "its environment was not seen" };
    const leaked = [seen, ...texts].some((text) => keys.some((key) => text.includes(key)));
    return leaked ? { failed: "it has the user's key" } : { passed: "masked; the key stays outside" };
  });
}

/** An answer is paid at about a quarter of the budget, so a few fit. */
const BUDGET = 0.6;
const OUTPUT_TOKENS = 8_000;
const PAID_ROUNDS = 8;

async function budget(tried: Tried): Promise<Verdict> {
  const { run } = AGENT_TOOLS[tried.agent];
  const asked: number[] = [];
  const script: PlanScript = ({ answered }) => {
    asked[answered] = (asked[answered] ?? 0) + 1;
    const said = answered >= PAID_ROUNDS ? { text: "All done." } : { calls: [run(`echo ${answered} >> all.txt`)] };
    return { ...said, outputTokens: OUTPUT_TOKENS };
  };
  return inPlan(tried, script, async (world) => {
    const { code, errors, output } = await world.start(...world.run("--budget", `${BUDGET}`)).ended;
    if (code === 0 || !`${errors}${output}`.includes("BUDGET_EXCEEDED"))
      return { failed: `it ended with ${code}: ${`${errors}${output}`.slice(-600)}` };
    const [spent, paid] = [await world.spent(), asked.length];
    if (spent > BUDGET) return { failed: `it spent $${spent.toFixed(3)} of $${BUDGET}` };
    if (paid === 0 || paid >= PAID_ROUNDS) return { failed: `${paid} answers were paid` };
    if (!(await world.isQuiet())) return { failed: "it runs on" };
    await world.agents("plan", "budget", "last", "50");
    await world.agents("plan", "execute");
    if (asked.some((times) => times !== 1)) return { failed: `the questions were asked ${asked.join()} times` };
    return { passed: `${paid} answers for $${spent.toFixed(2)} of $${BUDGET}, the rest after it was raised` };
  });
}
