/**
 * The cost of a context: a ranked one of a tree that was never indexed, beside repomix's compressed pack of the same
 * tree; again after one edit; and how the time grows with the tree. Whole commands as a user runs them, in turn with
 * the peer's.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ContextLab } from "../src/context/testing/recall.ts";
import type { Source } from "../src/context/testing/answer-sets.ts";
import { PACKAGES, sourcesOf, writeSources } from "./corpus.ts";
import { grouped, met, type Sample, summarize, table, timed } from "./measure.ts";

const AGENTS = join(import.meta.dirname, "..", "bin", "agents");
const PEAK_MEMORY = new URL("peak-memory.ts", import.meta.url).href;
const QUESTION = "How does the fallback transport rank other transports by latency?";
const BUDGET = 32_000;
const AIM_EDIT_MS = 150;
const AIM_INSPECT_MS = 300;
const AIM_LARGE_MS = 60_000;
const AIM_MEGABYTES = 1_000;
/** Of the time for five times the files: more than five times as much would be more than linear. */
const AIM_GROWTH = 5 * 1.2;

interface SpeedOptions {
  readonly peersDir: string;
  readonly dir: string;
  readonly quick: boolean;
}

export async function speed(options: SpeedOptions): Promise<void> {
  if (!existsSync(join(AGENTS, "..", "..", "dist", "cli.cjs"))) throw new Error("build first: npm run build");
  const small = await codeTree(join(options.dir, "small"), 1);
  await beside(small, options);
  await edited(small, options);
  await inspected(small, options);
  await growth(options);
}

interface Tree {
  readonly root: string;
  readonly files: number;
}

/**
 * viem and matrix-js-sdk as often as asked, the names they export different in each copy, as they would be in other
 * code.
 */
async function codeTree(root: string, copies: number): Promise<Tree> {
  const packages = PACKAGES.slice(0, 2).map((wanted) => ({ name: wanted.name, sources: sourcesOf(wanted) }));
  let files = 0;
  for (let copy = 0; copy < copies; copy += 1) {
    for (const { name, sources } of packages) {
      const directory = join(root, copy === 0 ? name : `${name}-${copy}`);
      await mkdir(directory, { recursive: true });
      writeSources(copy === 0 ? sources : renamed(sources, copy), directory);
      files += sources.length;
    }
  }
  return { root, files };
}

function renamed(sources: readonly Source[], copy: number): readonly Source[] {
  const exported = new Set(
    sources.flatMap(({ text }) =>
      Array.from(
        text.matchAll(/^export [\w ]*?(?:function|class|const|interface|type|enum) (\w+)/gm),
        ([, name]) => name,
      ),
    ),
  );
  // Some export what is a word of the language elsewhere: `import … from1` would be none.
  for (const word of ["abstract", "enum", "from", "get", "set", "unique"]) exported.delete(word);
  return sources.map(({ path, text }) => ({
    path,
    text: text.replaceAll(/[A-Za-z_$][\w$]*/g, (word) => (exported.has(word) ? `${word}${copy}` : word)),
  }));
}

// --- beside repomix
// ---------------------------------------------------------------------------------------------------------

/** Both look for secrets, as they do for a user; repomix also without, which is its fastest. */
async function beside({ root, files }: Tree, { peersDir, dir, quick }: SpeedOptions): Promise<void> {
  const rounds = quick ? 3 : 7;
  const dataDir = join(dir, "data");
  const contestants = [
    { label: "agents context pack: index and ranked context", argv: pack(dataDir, root) },
    { label: "repomix --compress: everything", argv: repomix(peersDir, root, dir, []) },
    {
      label: "repomix --compress --no-security-check",
      argv: repomix(peersDir, root, dir, ["--no-security-check"]),
    },
  ].map((contestant) => ({ ...contestant, times: [] as number[], peak: 0 }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
      rmSync(dataDir, { recursive: true, force: true });
      // Memory in the round that warms up: what measures it takes a while to load.
      if (round === 0) contestant.peak = (await measured(contestant.argv, dir)).megabytes;
      else contestant.times.push(await timed(() => finished(contestant.argv, {})));
    }
  }
  console.log(`\n${grouped(files)} TypeScript files that were never indexed, ${rounds} rounds in turn`);
  const rows = contestants.map(({ label, times, peak }) => ({ label, peak, sample: summarize(times) }));
  console.log(
    table([
      ["", "median", "range", "peak memory"],
      ...rows.map(({ label, sample, peak }) => [label, seconds(sample.median), range(sample), `${grouped(peak)} MB`]),
    ]),
  );
  const [own, ...peers] = rows;
  if (own === undefined) return;
  for (const { label, sample, peak } of peers) {
    const [time, memory] = [own.sample.median / sample.median, own.peak / peak];
    console.log(
      `${label}: time ${time.toFixed(2)}×, memory ${memory.toFixed(2)}×; aim ≤ 1×: time ${met(time <= 1)}, memory ${met(memory <= 1)}`,
    );
  }
}

// --- after one edit, and unchanged
// ------------------------------------------------------------------------------------------

/** In a process that stays, as a plan's: the file is looked at, parsed, and a context assembled again. */
async function edited({ root }: Tree, { dir }: SpeedOptions): Promise<void> {
  await using lab = await ContextLab.of(root, join(dir, "lab"));
  const question = { query: QUESTION, focus: [] };
  await lab.ask(question, BUDGET);
  const times: number[] = [];
  // As many as take three seconds: the first ones are V8 compiling what a process that stays has long compiled.
  for (let round = 0; round <= 15; round += 1) {
    appendFileSync(join(root, "viem", "clients", "transports", "fallback.ts"), `\n// edit ${round}\n`);
    const ms = await timed(async () => {
      await lab.sync();
      await lab.ask(question, BUDGET);
    });
    if (round > 0) times.push(ms);
  }
  const edit = summarize(times);
  console.log(
    `\nafter one edit, index and context again: ${milliseconds(edit)}, the first ${times[0]?.toFixed(0)} ms; aim ≤ ${AIM_EDIT_MS} ms: ${met(edit.median <= AIM_EDIT_MS)}`,
  );
}

async function inspected({ root }: Tree, { dir, quick }: SpeedOptions): Promise<void> {
  const dataDir = join(dir, "inspect");
  const agents = [AGENTS, "--data-dir", dataDir];
  await finished([...agents, "resource", "add", "fs-directory", "code", "--path", root], {});
  await finished([...agents, "project", "create", "bench", "--resource", "code"], {});
  const inspect = [
    ...agents,
    "project",
    "context",
    "inspect",
    "bench",
    "--query",
    QUESTION,
    "--budget",
    String(BUDGET),
  ];
  await finished(inspect, {});
  const [times, nothing]: [number[], number[]] = [[], []];
  for (let round = 0; round <= (quick ? 5 : 15); round += 1) {
    const ms = await timed(() => finished(inspect, {}));
    const bare = await timed(() => finished(["-e", "0"], {}));
    if (round === 0) continue;
    times.push(ms);
    nothing.push(bare);
  }
  const warm = summarize(times);
  console.log(
    `\nagents project context inspect, nothing changed: ${milliseconds(warm)} (node -e 0: ${summarize(nothing).median.toFixed(0)} ms); ` +
      `aim ≤ ${AIM_INSPECT_MS} ms: ${met(warm.median <= AIM_INSPECT_MS)}`,
  );
}

// --- growth
// -----------------------------------------------------------------------------------------------------------------

async function growth(options: SpeedOptions): Promise<void> {
  const sizes = options.quick ? [6] : [6, 30];
  const rows: { readonly files: number; readonly ms: number; readonly megabytes: number }[] = [];
  for (const copies of sizes) {
    const { root, files } = await codeTree(join(options.dir, `copies-${copies}`), copies);
    const dataDir = join(options.dir, `data-${copies}`);
    rows.push({ files, ...(await measured(pack(dataDir, root), options.dir)) });
    rmSync(root, { recursive: true });
    rmSync(dataDir, { recursive: true });
  }
  console.log("\nlarger trees, index and ranked context, once");
  console.log(
    table([
      ["files", "time", "per file", "peak memory"],
      ...rows.map(({ files, ms, megabytes }) => [
        grouped(files),
        seconds(ms),
        `${(ms / files).toFixed(2)} ms`,
        `${grouped(megabytes)} MB`,
      ]),
    ]),
  );
  const [small, large] = rows;
  if (small === undefined) return;
  const peak = Math.max(...rows.map(({ megabytes }) => megabytes));
  console.log(
    `aim ≤ ${AIM_LARGE_MS / 1_000} s for ${grouped(small.files)}: ${met(small.ms <= AIM_LARGE_MS)}; ` +
      `memory < ${grouped(AIM_MEGABYTES)} MB: ${met(peak < AIM_MEGABYTES)}` +
      (large === undefined
        ? ""
        : `; five times the files ${(large.ms / small.ms).toFixed(1)}×, aim ≤ ${AIM_GROWTH}×: ${met(large.ms <= small.ms * AIM_GROWTH)}`),
  );
}

// --- processes
// --------------------------------------------------------------------------------------------------------------

interface Measured {
  readonly ms: number;
  readonly megabytes: number;
}

function pack(dataDir: string, root: string): readonly string[] {
  return [AGENTS, "--data-dir", dataDir, "context", "pack", "--path", root, "--budget", String(BUDGET), QUESTION];
}

function repomix(peersDir: string, root: string, dir: string, options: readonly string[]): readonly string[] {
  const program = join(peersDir, "node_modules", "repomix", "bin", "repomix.cjs");
  return [program, "--compress", "--quiet", ...options, "-o", join(dir, "pack.xml"), root];
}

async function measured(argv: readonly string[], dir: string): Promise<Measured> {
  const file = join(dir, `peak-${process.pid}.txt`);
  rmSync(file, { force: true });
  const ms = await timed(() => finished(["--import", PEAK_MEMORY, ...argv], { BENCH_PEAK_MEMORY: file }));
  const peaks = readFileSync(file, "utf8").trim().split("\n").map(Number);
  return { ms, megabytes: Math.max(...peaks) / 1_000 };
}

async function finished(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, argv, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint = (complaint + text).slice(-1_000)));
  const [code]: (number | null)[] = await once(child, "close");
  if (code !== 0) throw new Error(`${argv.slice(0, 6).join(" ")} … ended with ${code}: ${complaint}`);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function range({ lowest, highest }: Sample): string {
  return `${seconds(lowest)} – ${seconds(highest)}`;
}

function milliseconds({ median, lowest, highest }: Sample): string {
  return `${median.toFixed(0)} ms (${lowest.toFixed(0)}–${highest.toFixed(0)})`;
}
