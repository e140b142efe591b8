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
import type { ContextOptions } from "./context-options.ts";
import { type Corpus, writeSources } from "./corpus.ts";
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

export async function speed(options: ContextOptions): Promise<void> {
  if (!existsSync(join(AGENTS, "..", "..", "dist", "cli.cjs"))) throw new Error("build first: npm run build");
  const small = await codeTree(options.code, join(options.dir, "small"), 1);
  await beside(small, options);
  await edited(small, options);
  await inspected(small, options);
  await growth(options);
}

interface Tree {
  readonly root: string;
  readonly files: number;
  /** One of them. */
  readonly first: string;
}

/**
 * The first two of the code, viem and matrix-js-sdk, as often as asked. The names they export are different in each
 * copy, as they would be in other code.
 */
async function codeTree(code: readonly Corpus[], root: string, copies: number): Promise<Tree> {
  const packages = code.slice(0, 2).map(({ name, sources }) => ({ name, sources: sources() }));
  const [first] = packages.flatMap(({ name, sources }) => sources.map(({ path }) => join(root, name, path)));
  if (first === undefined) throw new Error("there is no code to measure on");
  let files = 0;
  for (let copy = 0; copy < copies; copy += 1) {
    for (const { name, sources } of packages) {
      const directory = join(root, copy === 0 ? name : `${name}-${copy}`);
      await mkdir(directory, { recursive: true });
      writeSources(copy === 0 ? sources : renamed(sources, copy), directory);
      files += sources.length;
    }
  }
  return { root, files, first };
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
async function beside({ root, files }: Tree, { repomix, dir, size }: ContextOptions): Promise<void> {
  const rounds = { smoke: 1, quick: 3, full: 7 }[size];
  const packs = (...options: string[]) => repomix?.words(root, join(dir, "pack.xml"), options);
  const dataDir = join(dir, "data");
  const contestants = [
    { label: "agents context pack: index and ranked context", argv: pack(dataDir, root) },
    { label: "repomix --compress: everything", argv: packs() },
    { label: "repomix --compress --no-security-check", argv: packs("--no-security-check") },
  ].flatMap(({ label, argv }) => (argv === undefined ? [] : [{ label, argv, times: [] as number[], peak: 0 }]));
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
async function edited({ root, first }: Tree, { dir, size }: ContextOptions): Promise<void> {
  await using lab = await ContextLab.of(root, join(dir, "lab"));
  const question = { query: QUESTION, focus: [] };
  await lab.ask(question, BUDGET);
  const times: number[] = [];
  // As many as take three seconds: the first ones are V8 compiling what a process that stays has long compiled.
  for (let round = 0; round <= { smoke: 1, quick: 15, full: 15 }[size]; round += 1) {
    appendFileSync(first, `\n// edit ${round}\n`);
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

async function inspected({ root }: Tree, { dir, size }: ContextOptions): Promise<void> {
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
  for (let round = 0; round <= { smoke: 1, quick: 5, full: 15 }[size]; round += 1) {
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

async function growth(options: ContextOptions): Promise<void> {
  const sizes = { smoke: [2], quick: [6], full: [6, 30] }[options.size];
  const rows: { readonly files: number; readonly ms: number; readonly megabytes: number }[] = [];
  for (const copies of sizes) {
    const { root, files } = await codeTree(options.code, join(options.dir, `copies-${copies}`), copies);
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
