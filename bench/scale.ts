/**
 * The cost of a large store: the same commands and the same transition with 1,000 and with 1,000,000 plans, whole
 * commands as a user runs them, the two stores in turn so that the machine's moods hit both alike. And the cost of
 * starting the command line at all, beside a Node that does nothing.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { openStore } from "../src/store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../src/plans/plan-lifecycle-service.ts";
import { verifyAudit } from "../src/store/tables/audit-verification.ts";
import type { PlanId } from "../src/domain/names/ids.ts";
import { resolvePaths } from "../src/app/base/paths.ts";
import { type BenchSize, grouped, met, scratchDirectory, summarize, table, timed } from "./measure.ts";
import { populate } from "./population.ts";

const ROOT = join(import.meta.dirname, "..");
const AGENTS = join(ROOT, "bin", "agents");
const SMALL = 1_000;
/** Two transitions each: enough for both stores to write several seals, which come with every 256th audit entry. */
const TRANSITION_PLANS = 390;
const LARGE = { smoke: 5_000, quick: 100_000, full: 1_000_000 } as const;
const COMMAND_RUNS = { smoke: 1, quick: 15, full: 15 } as const;
const START_RUNS = { smoke: 1, quick: 20, full: 20 } as const;
const AIM_RATIO = 2;
const STARTS = [
  { name: "version", aim: 1.5, words: () => ["version"] },
  { name: "--help", aim: 1.7, words: () => ["--help"] },
  { name: "plan list", aim: 2.5, words: (dataDir: string) => ["--data-dir", dataDir, "plan", "list"] },
] as const;
const AIM_MEGABYTES = 150;

interface Scale {
  readonly plans: number;
  readonly dataDir: string;
  readonly database: string;
  readonly queued: readonly PlanId[];
}

interface Timings {
  readonly small: number[];
  readonly large: number[];
}

export async function run(options: { readonly dir: string; readonly size: BenchSize }): Promise<void> {
  await using scratch = await scratchDirectory(options.dir, endCommand);
  const small = await make(scratch.path, SMALL);
  await expectSound(small);
  const large = await make(scratch.path, LARGE[options.size]);
  if (existsSync(AGENTS)) {
    const bundled = existsSync(join(ROOT, "dist", "cli.cjs"));
    console.log(`bin/agents runs ${bundled ? "the bundle in dist/" : "from source, without a bundle"}`);
    await commands(small, large, COMMAND_RUNS[options.size]);
    await memory(large);
    await start(small, START_RUNS[options.size]);
  } else {
    console.log("\nThere is no bin/agents: the commands are not measured.");
  }
  await transitions(small, large);
}

async function make(dir: string, plans: number): Promise<Scale> {
  const dataDir = join(dir, String(plans));
  await mkdir(dataDir, { mode: 0o700 });
  const { database } = resolvePaths({ dataDir }, {}, dir);
  let auditEntries = 0;
  const ms = await timed(async () => (auditEntries = await populate(database, plans)));
  const megabytes = (await stat(database)).size / 1e6;
  console.log(
    `made ${grouped(plans)} plans with ${grouped(auditEntries)} audit entries: ${grouped(megabytes)} MB in ${(ms / 1_000).toFixed(0)} s`,
  );
  return { plans, dataDir, database, queued: await queuedPlans(database) };
}

/** Plans that were not started yet, spread evenly over all of them. */
async function queuedPlans(database: string): Promise<PlanId[]> {
  await using store = await openStore(`sqlite:${database}`);
  const all = await store.read((reader) =>
    reader.all<{ id: PlanId }>("SELECT id FROM plans WHERE state = 'queued' AND phase = 'strategize' ORDER BY id"),
  );
  const every = Math.max(1, Math.floor(all.length / TRANSITION_PLANS));
  return all.flatMap(({ id }, index) => (index % every === 0 ? [id] : [])).slice(0, TRANSITION_PLANS);
}

/** Measuring rows that no real store would have says nothing: what was made must count right and verify. */
async function expectSound({ database, plans }: Scale): Promise<void> {
  await using store = await openStore(`sqlite:${database}`);
  const { counts } = await new PlanLifecycleService({ store }).listPlans({ limit: 1 });
  const counted = [...counts.values()].reduce((sum, one) => sum + one, 0);
  const { problem } = await verifyAudit(store, { at: Date.now() });
  if (counted !== plans || problem !== undefined) {
    throw new Error(`the made store is not sound: ${counted} plans, ${problem?.message ?? "audit log verifies"}`);
  }
}

async function commands(small: Scale, large: Scale, runs: number): Promise<void> {
  const middle = ({ queued }: Scale): string => queued[queued.length >> 1] ?? "";
  const measured = [
    { name: "agents plan list", words: () => ["plan", "list"] },
    { name: "agents plan status <id>", words: (scale: Scale) => ["plan", "status", middle(scale)] },
  ].map((command): typeof command & Timings => ({ ...command, small: [], large: [] }));
  // Round 0 fills the compile cache and the page cache.
  for (let round = 0; round <= runs; round += 1) {
    for (const command of measured) {
      const smallMs = await timed(() => agents(["--data-dir", small.dataDir, ...command.words(small)]));
      const largeMs = await timed(() => agents(["--data-dir", large.dataDir, ...command.words(large)]));
      if (round === 0) continue;
      command.small.push(smallMs);
      command.large.push(largeMs);
    }
  }
  console.log(`\nwhole commands, ${runs} runs each in turn, median (lowest – highest) ms`);
  compare(small, large, measured);
}

async function transitions(small: Scale, large: Scale): Promise<void> {
  await using smallStore = await openStore(`sqlite:${small.database}`);
  await using largeStore = await openStore(`sqlite:${large.database}`);
  const smallMs: number[] = [];
  const largeMs: number[] = [];
  const pair = [
    { service: new PlanLifecycleService({ store: smallStore }), queued: small.queued, ms: smallMs },
    { service: new PlanLifecycleService({ store: largeStore }), queued: large.queued, ms: largeMs },
  ];
  for (let index = 0; index < TRANSITION_PLANS; index += 1) {
    for (const { service, queued, ms } of pair) {
      const id = queued[index];
      if (id === undefined) throw new Error("too few plans to measure transitions on");
      let lease: Awaited<ReturnType<PlanLifecycleService["startStrategize"]>> | undefined;
      const started = await timed(async () => (lease = await service.startStrategize(id)));
      const completed = await timed(async () => lease && service.completeStrategize(lease));
      // The first ones prepare the statements.
      if (index >= 10) ms.push(started, completed);
    }
  }
  console.log(`\none transition in process, ${smallMs.length} each in turn, median (lowest – highest) ms`);
  compare(small, large, [{ name: "start or complete a phase", small: smallMs, large: largeMs }]);
  const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
  const meanRatio = mean(largeMs) / mean(smallMs);
  console.log(
    `on average, so with the seals: ${mean(smallMs).toFixed(2)} and ${mean(largeMs).toFixed(2)} ms, ${meanRatio.toFixed(2)}×; aim ≤ ${AIM_RATIO}×: ${met(meanRatio <= AIM_RATIO)}`,
  );
}

function compare(small: Scale, large: Scale, lines: readonly (Timings & { readonly name: string })[]): void {
  const cell = (values: readonly number[]): string => {
    const { median, lowest, highest } = summarize(values);
    return `${median.toFixed(2)} (${lowest.toFixed(2)} – ${highest.toFixed(2)})`;
  };
  const rows = lines.map((line) => {
    const ratio = summarize(line.large).median / summarize(line.small).median;
    const verdict = `${ratio.toFixed(2)}×; aim ≤ ${AIM_RATIO}×: ${met(ratio <= AIM_RATIO)}`;
    return [line.name, cell(line.small), cell(line.large), verdict];
  });
  console.log(table([["", `${grouped(small.plans)} plans`, `${grouped(large.plans)} plans`, "ratio"], ...rows]));
}

async function memory(large: Scale): Promise<void> {
  const peak = await peakMegabytes(["--data-dir", large.dataDir, "plan", "list"]);
  if (peak === undefined) {
    console.log(
      "\npeak memory of agents plan list: this system has neither /usr/bin/time -v nor /proc to measure it with",
    );
    return;
  }
  console.log(
    `\npeak memory of agents plan list with ${grouped(large.plans)} plans: ${peak.megabytes.toFixed(0)} MB (${peak.by}); aim < ${AIM_MEGABYTES} MB: ${met(peak.megabytes < AIM_MEGABYTES)}`,
  );
}

/** Commands that people and scripts call in loops, beside a Node that does nothing; all in turn. */
async function start(small: Scale, runs: number): Promise<void> {
  const taken = new Map(STARTS.map(({ name }): [string, number[]] => [name, []]));
  const nothing: number[] = [];
  for (let round = 0; round <= runs; round += 1) {
    const nothingMs = await timed(() => finished(process.execPath, ["-e", "0"]));
    if (round > 0) nothing.push(nothingMs);
    for (const { name, words } of STARTS) {
      const ms = await timed(() => agents(words(small.dataDir)));
      if (round > 0) taken.get(name)?.push(ms);
    }
  }
  const bare = summarize(nothing).median;
  console.log(`\nbeside node -e 0, ${bare.toFixed(0)} ms (medians of ${runs} in turn)`);
  for (const { name, aim } of STARTS) {
    const ours = summarize(taken.get(name) ?? []).median;
    const ratio = ours / bare;
    console.log(`agents ${name}: ${ours.toFixed(0)} ms, ${ratio.toFixed(2)}×; aim ≤ ${aim}×: ${met(ratio <= aim)}`);
  }
}

function agents(words: readonly string[]): Promise<void> {
  return finished(AGENTS, words);
}

/** The Node that runs this is the one the commands find. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}` };
}

/** The command that runs now; there is never more than one. */
let running: ChildProcess | undefined;

async function endCommand(): Promise<void> {
  const child = running;
  if (child?.kill("SIGKILL") === true) await once(child, "exit");
}

function finished(command: string, words: readonly string[], onSpawn?: (pid: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { env: environment(), stdio: ["ignore", "ignore", "pipe"] });
    running = child;
    let complaint = "";
    child.stderr.on("data", (text: Buffer) => (complaint += text.toString()));
    child.on("error", reject);
    child.on("spawn", () => child.pid !== undefined && onSpawn?.(child.pid));
    child.on("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ${words.join(" ")} ended with ${code ?? signal}: ${complaint}`));
    });
  });
}

async function peakMegabytes(words: readonly string[]): Promise<{ megabytes: number; by: string } | undefined> {
  if (existsSync("/usr/bin/time")) {
    const { status, stderr } = spawnSync("/usr/bin/time", ["-v", AGENTS, ...words], {
      env: environment(),
      encoding: "utf8",
    });
    const kilobytes = /Maximum resident set size \(kbytes\): (\d+)/.exec(stderr)?.[1];
    if (status === 0 && kilobytes !== undefined)
      return { megabytes: Number(kilobytes) / 1_000, by: "/usr/bin/time -v" };
  }
  if (!existsSync("/proc/self/status")) return undefined;
  let kilobytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = (pid: number): void => {
    try {
      const text = readFileSync(`/proc/${pid}/status`, "utf8");
      kilobytes = Math.max(kilobytes, Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0));
    } catch {
      // The process has ended between two looks; the highest mark seen stands.
      clearInterval(timer);
    }
  };
  await finished(AGENTS, words, (pid) => (timer = setInterval(look, 2, pid)));
  clearInterval(timer);
  return { megabytes: kilobytes / 1_000, by: "VmHWM in /proc, looked at every 2 ms" };
}
