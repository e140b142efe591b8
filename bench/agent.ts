/**
 * The same tasks, played by the same scripted model, with our command line and with other coding agents: requests,
 * tokens, price, time and processor time of each; the part of a failing command that a model sees; and the state after
 * a kill.
 */
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { WireName } from "../src/actors/testing/wires/wire.ts";
import { billOf, countTokens, type Bill } from "./agent-bill.ts";
import type { Contestant } from "./agent-contestants.ts";
import { measureKills } from "./agent-killed.ts";
import { scriptedModel, type ScriptedModel } from "./agent-model.ts";
import { ours } from "./agent-ours.ts";
import { measureOutside } from "./agent-outside.ts";
import { installed, PEERS } from "./agent-peers.ts";
import { PARTS } from "./agent-prompts.ts";
import { wholeRun, type Outcome, type Seat } from "./agent-run.ts";
import {
  BUG,
  LONG_OUTPUT,
  makeShop,
  OBSERVATION,
  QUESTION,
  SHORT_OUTPUT,
  TWO_FILES,
  type Task,
} from "./agent-tasks.ts";
import { grouped, met, scratchDirectory, summarize, table, type BenchSize } from "./measure.ts";
import { ifItRuns } from "./peer.ts";

const TOKENS_AIM = 1.2;
const TIME_AIM = 1.5;

/** Counted rounds; round 0 comes before them. */
const ROUNDS = { smoke: 0, quick: 2, full: 5 } as const satisfies Record<BenchSize, number>;
const TASKS = {
  smoke: [TWO_FILES],
  quick: [BUG, TWO_FILES, QUESTION],
  full: [BUG, TWO_FILES, QUESTION],
} as const satisfies Record<BenchSize, readonly Task[]>;

/** Of ours; the first is the one that is judged. Peers are asked in the format that they were made for. */
const DIALECTS = {
  smoke: ["anthropic"],
  quick: ["anthropic", "responses"],
  full: ["anthropic", "responses", "chat", "gemini"],
} as const satisfies Record<BenchSize, readonly WireName[]>;

type Outcomes = ReadonlyMap<Seat, readonly Outcome[]>;

export async function run({ dir, size }: { dir: string; size: BenchSize }): Promise<void> {
  if (!existsSync(join(import.meta.dirname, "..", "dist", "cli.cjs"))) throw new Error("build first: npm run build");
  await using scratch = await scratchDirectory(dir);
  await using model = await scriptedModel();
  const others = size === "smoke" ? [] : await peersIn(scratch.path);
  const contestants = [...DIALECTS[size].map((wire) => ours(wire)), ...others];
  const seats = await seated(contestants, { directory: scratch.path, url: model.url, size });
  for (const { contestant } of seats) console.log(`${contestant.name} ${contestant.version} (${contestant.wire})`);
  for (const task of TASKS[size]) tell(task, await inTurn(task, seats, { model, rounds: ROUNDS[size] }));
  await tellObservations(seats, model);
  await measureKills(seats, model);
  await measureOutside({
    model,
    rounds: ROUNDS[size],
    small: size === "smoke",
    seated: (some) => seated(some, { directory: join(scratch.path, some[0]?.name ?? ""), url: model.url, size }),
  });
}

/** A peer that cannot be installed here is left out by name. */
async function peersIn(scratch: string): Promise<Contestant[]> {
  const directory = process.env["BENCH_AGENT_PEERS"] ?? join(scratch, "peers");
  console.log("Installing the agents to compare with (npm install; about 800 MB, needs the network) …");
  const peers: Contestant[] = [];
  for (const peer of PEERS) {
    const contestant = await ifItRuns(peer.name, async () => installed(peer, directory));
    if (contestant !== undefined) peers.push(contestant);
  }
  return peers;
}

/** Each has a home and a copy of the repository, which it keeps: what an agent remembers helps it later. */
async function seated(
  contestants: readonly Contestant[],
  { directory, url, size }: { directory: string; url: string; size: BenchSize },
): Promise<Seat[]> {
  const shop = join(directory, "shop");
  mkdirSync(shop, { recursive: true });
  makeShop(shop, size === "smoke" ? "room" : "all");
  const seats: Seat[] = [];
  for (const contestant of contestants) {
    const below = join(directory, contestant.name.replaceAll(/\W+/g, "-"));
    const place = { home: join(below, "home"), repository: join(below, "shop"), url };
    mkdirSync(place.home, { recursive: true });
    cpSync(shop, place.repository, { recursive: true });
    await contestant.prepare(place);
    seats.push({ contestant, place });
  }
  return seats;
}

/** Which of them is first changes each round. An agent that does not do the task is left out of it. */
async function inTurn(
  task: Task,
  seats: readonly Seat[],
  { model, rounds }: { model: ScriptedModel; rounds: number },
): Promise<Outcomes> {
  const outcomes = new Map<Seat, Outcome[]>(seats.map((seat) => [seat, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const first = round % seats.length;
    for (const seat of [...seats.slice(first), ...seats.slice(0, first)]) {
      const kept = outcomes.get(seat);
      if (kept === undefined) continue;
      const outcome = await wholeRun(seat, task, model);
      kept.push(outcome);
      if (outcome.done) continue;
      const reason = `did not do "${task.name}" (exit code ${outcome.code}): ${outcome.said.trim().slice(-500)}`;
      if (seat === seats[0]) throw new Error(`ours ${reason}`);
      console.log(`${seat.contestant.name} ${reason}`);
      outcomes.delete(seat);
    }
  }
  return outcomes;
}

interface Row {
  readonly seat: Seat;
  readonly bill: Bill;
  /** The first run, in a new home and repository. */
  readonly first: number;
  readonly seconds: number;
  readonly range: string;
  readonly processorSeconds: number;
}

function tell(task: Task, outcomes: Outcomes): void {
  const rows = [...outcomes].map(([seat, all]) => rowOf(seat, all));
  console.log(`\n${task.name}`);
  console.log(
    table([
      ["", "requests", "tokens in", "cached", "out", "price", "seconds", "", "processor", "first run"],
      ...rows.map(({ seat, bill, first, seconds, range, processorSeconds }) => [
        seat.contestant.name,
        String(bill.requests),
        grouped(bill.input),
        `${Math.round((100 * bill.cached) / bill.input)} %`,
        grouped(bill.output),
        `$${bill.dollars.toFixed(4)}`,
        seconds.toFixed(2),
        range,
        processorSeconds.toFixed(2),
        first.toFixed(2),
      ]),
    ]),
  );
  tellParts(rows);
  judge(rows);
}

function rowOf(seat: Seat, all: readonly Outcome[]): Row {
  const [cold] = all;
  const counted = all.length > 1 ? all.slice(1) : all;
  const { median, lowest, highest } = summarize(counted.map(({ seconds }) => seconds));
  return {
    seat,
    bill: billOf(all.at(-1)?.exchanges ?? []),
    first: cold?.seconds ?? Number.NaN,
    seconds: median,
    range: `${lowest.toFixed(2)} – ${highest.toFixed(2)}`,
    processorSeconds: summarize(counted.map(({ processorSeconds }) => processorSeconds)).median,
  };
}

/** The sum over all requests, because each request carries everything again. */
function tellParts(rows: readonly Row[]): void {
  console.log(
    table([
      ["tokens in, by part", ...PARTS],
      ...rows.map(({ seat, bill }) => [seat.contestant.name, ...PARTS.map((part) => grouped(bill.parts[part]))]),
    ]),
  );
}

function judge(rows: readonly Row[]): void {
  const [own, ...others] = rows;
  const peers = others.filter(({ seat }) => !seat.contestant.name.startsWith("ours"));
  if (own === undefined || peers.length === 0) return;
  const against = (what: string, aim: number, value: (row: Row) => number): void => {
    const leanest = peers.reduce((least, row) => (value(row) < value(least) ? row : least));
    const ratio = value(own) / value(leanest);
    const all = peers.map((row) => `${(value(own) / value(row)).toFixed(2)}× ${row.seat.contestant.name}`).join(", ");
    console.log(`${what}: ours ${all}; aim ≤ ${aim}× the leanest: ${met(ratio <= aim)}`);
  };
  against("tokens in", TOKENS_AIM, ({ bill }) => bill.input);
  against("price", TOKENS_AIM, ({ bill }) => bill.dollars);
  against("time", TIME_AIM, ({ seconds }) => seconds);
  against("processor time", TIME_AIM, ({ processorSeconds }) => processorSeconds);
}

async function tellObservations(seats: readonly Seat[], model: ScriptedModel): Promise<void> {
  const rows: string[][] = [];
  for (const seat of seats) {
    const { exchanges } = await wholeRun(seat, OBSERVATION, model);
    const results = exchanges.at(-1)?.prompt.pieces.filter(({ part }) => part === "result") ?? [];
    const share = (lines: number): string => {
      const shown = results.flatMap(({ text }) => text.match(new RegExp(`line \\d+ of ${lines}:`, "g")) ?? []);
      return `${((100 * new Set(shown).size) / lines).toFixed(0)} %`;
    };
    const tokens = results.reduce((sum, { text }) => sum + countTokens(text), 0);
    rows.push([seat.contestant.name, share(SHORT_OUTPUT), share(LONG_OUTPUT), grouped(tokens)]);
  }
  console.log("\nshare of the lines of a failing command that the model gets");
  console.log(table([["", `of ${SHORT_OUTPUT} lines`, `of ${grouped(LONG_OUTPUT)} lines`, "tokens of both"], ...rows]));
}
