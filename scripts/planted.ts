import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { vitestRun } from "./planted-test.ts";

/**
 * Mistakes that a person might make, each as a patch, and the test that sees it. A test suite is worth what it notices:
 * this puts one mistake after another into a copy of the sources and runs the test that its patch names, which must
 * pass without the mistake and fail with it. The checkout is never touched.
 *
 *   npm run planted                   all of them
 *   npm run planted -- 07 12          these
 *   npm run planted -- --sample 6     some, chosen by a seed that is printed; --seed chooses the same again. That their
 *                                     tests pass without the mistake is left to `npm test`, which runs all tests
 */
const PATCHES = "test/planted";

interface Planted {
  readonly file: string;
  readonly breaks: string;
  readonly test: string;
  readonly pattern: string;
  /** The files it changes. */
  readonly paths: readonly string[];
}

type Verdict = "caught" | "survived" | "does not apply" | "does not parse" | "fails without it" | "no such test";

function readPlanted(file: string): Planted {
  const text = readFileSync(join(PATCHES, file), "utf8");
  const field = (name: string): string => {
    const found = new RegExp(`^${name}: (.+)$`, "m").exec(text)?.[1];
    if (found === undefined) throw new Error(`${PATCHES}/${file} does not say "${name}:"`);
    return found;
  };
  const paths = Array.from(text.matchAll(/^\+\+\+ b\/(\S+)$/gm), ([, path = ""]) => path);
  if (paths.length === 0) throw new Error(`${PATCHES}/${file} changes nothing`);
  return { file, breaks: field("breaks"), test: field("caught by"), pattern: field("test"), paths };
}

/**
 * The files of the checkout that git tracks or would add, as they are now; packages are linked, and without a bundle
 * commands run from the sources.
 */
function copyOfSources(): string {
  const copy = mkdtempSync(join(tmpdir(), "cleveragents-planted-"));
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of listed.split("\0").filter((name) => name !== "" && !name.startsWith(`${PATCHES}/`))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(file, join(copy, file), { force: true, verbatimSymlinks: true, errorOnExist: false });
  }
  symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
  return copy;
}

async function plant(copy: string, { file, paths }: Planted): Promise<Verdict | undefined> {
  // One line around a change is enough to find its place: what others change nearby does not matter.
  const git = spawn("git", ["apply", "-C1", "--whitespace=nowarn", resolve(PATCHES, file)], { cwd: copy });
  const [code] = (await once(git, "close")) as [number];
  if (code !== 0) return "does not apply";
  try {
    for (const path of paths) stripTypeScriptTypes(readFileSync(join(copy, path), "utf8"));
  } catch {
    return "does not parse";
  }
  return undefined;
}

function takeOut(copy: string, { paths }: Planted): void {
  for (const path of paths) writeFileSync(join(copy, path), readFileSync(path));
}

async function judge(copy: string, planted: Planted, sample: boolean): Promise<Verdict> {
  const before = sample ? undefined : await vitestRun(copy, planted);
  if (before?.passed === 0 && before.failed === 0) return "no such test";
  if (before !== undefined && (before.failed > 0 || before.broken)) return "fails without it";
  try {
    const problem = await plant(copy, planted);
    if (problem !== undefined) return problem;
    const { passed, failed, broken } = await vitestRun(copy, planted);
    if (passed + failed === 0 && !broken) return "no such test";
    // A file that cannot even be loaded has not looked at the mistake.
    if (broken) return "does not parse";
    return failed > 0 ? "caught" : "survived";
  } finally {
    takeOut(copy, planted);
  }
}

/** The same for the same seed: by a number that the seed gives each of them. */
function sampled(all: readonly Planted[], size: number, seed: number): readonly Planted[] {
  const numbers = new Map(
    all.map((planted, index) => [planted, Math.imul(seed ^ (index * 0x9e3779b1), 0x85ebca6b) >>> 0]),
  );
  return all.toSorted((a, b) => (numbers.get(a) ?? 0) - (numbers.get(b) ?? 0)).slice(0, size);
}

const { values, positionals } = parseArgs({
  options: { sample: { type: "string" }, seed: { type: "string" } },
  allowPositionals: true,
});
const all = readdirSync(PATCHES)
  .filter((name) => name.endsWith(".patch"))
  .sort()
  .map(readPlanted);
const named =
  positionals.length === 0 ? all : all.filter(({ file }) => positionals.some((one) => file.startsWith(one)));
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const chosen = values.sample === undefined ? named : sampled(named, Number(values.sample), seed);
if (values.sample !== undefined) console.log(`${chosen.length} of ${all.length} planted bugs, --seed ${seed}`);
const copy = copyOfSources();
const missed: string[] = [];
try {
  for (const planted of chosen) {
    const verdict = await judge(copy, planted, values.sample !== undefined);
    if (verdict !== "caught") missed.push(planted.file);
    console.log(`${verdict.padEnd(16)} ${planted.file.replace(/\.patch$/, "")}: ${planted.breaks} (${planted.test})`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(`\n${chosen.length} planted, ${chosen.length - missed.length} caught`);
process.exitCode = missed.length === 0 && chosen.length > 0 ? 0 : 1;
