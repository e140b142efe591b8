import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { confinementHere } from "../src/confinement/availability.ts";
import { COMMAND_TESTS } from "./command-tests.ts";
import { stage } from "./stage.ts";

/**
 * Runs vitest and cucumber with V8 coverage on, in every process and thread they start, and merges it all into one
 * report. The command line then runs from its sources, so that black-box tests count for the lines they reach.
 */
const RAW = "coverage/raw";
const STRIPPED = "coverage/stripped";
const VITEST_REPORT = "coverage/vitest.json";
const THRESHOLDS = ["--lines", "97", "--branches", "93"];

export interface TestRun {
  readonly passed: number;
  readonly failed: number;
  readonly coverageMet: boolean;
}

export async function runTests(): Promise<TestRun> {
  rmSync("coverage", { recursive: true, force: true });
  mkdirSync(RAW, { recursive: true });
  const environment = {
    NODE_V8_COVERAGE: join(process.cwd(), RAW),
    NODE_OPTIONS: `--import=${pathToFileURL(stripSources()).href}`,
  };
  await stage("tests", vitest(VITEST_REPORT), environment);
  const again = await withoutBubblewrap(environment);
  await stage("features", ["cucumber-js", "--format", "json:coverage/cucumber.json"], environment);
  keepOwnSources();
  const report = ["c8", "report", "--temp-directory", RAW, "--include", "src/**/*.ts", "--all", "--src", "src"];
  const exclude = ["--exclude", "**/*.test.ts", "--exclude", "**/testing/**"];
  const output = ["--reporter", "text", "--reporter", "html", "--reports-dir", "coverage/report"];
  const coverageMet = await stage("coverage", [...report, ...exclude, ...output, "--check-coverage", ...THRESHOLDS]);
  const counts = [countVitest(VITEST_REPORT), again, countCucumber()];
  return {
    passed: counts.reduce((sum, one) => sum + one.passed, 0),
    failed: counts.reduce((sum, one) => sum + one.failed, 0),
    coverageMet,
  };
}

function vitest(report: string, files: readonly string[] = []): string[] {
  return ["vitest", "run", ...files, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
}

/**
 * The tests of commands again, with the confinement used where bubblewrap is missing; nothing where that was the case
 * anyway.
 */
async function withoutBubblewrap(environment: NodeJS.ProcessEnv): Promise<Count> {
  const { kind } = await confinementHere();
  if (kind !== "bubblewrap") {
    console.log(`\n── commands without bubblewrap: the tests ran so already (${kind})`);
    return { passed: 0, failed: 0 };
  }
  const directory = join(process.cwd(), "coverage/broken-programs");
  mkdirSync(directory);
  // Found before the real one, and tried as it would be.
  writeFileSync(join(directory, "bwrap"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const path = { PATH: `${directory}${delimiter}${process.env["PATH"]}` };
  const report = "coverage/vitest-without-bubblewrap.json";
  await stage("commands without bubblewrap", vitest(report, COMMAND_TESTS), { ...environment, ...path });
  return countVitest(report);
}

/** Returns the module that gives processes the stripped sources. */
function stripSources(): string {
  for (const file of globSync("src/**/*.ts")) strip(file, join(STRIPPED, file));
  const loader = join(process.cwd(), STRIPPED, "loader.js");
  strip("scripts/stripped-sources.ts", loader);
  return loader;
}

function strip(file: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, stripTypeScriptTypes(readFileSync(file, "utf8")));
}

/** Of what each process reported only our own sources are of interest: a hundredth, which keeps merging quick. */
function keepOwnSources(): void {
  const own = pathToFileURL(join(process.cwd(), "src/")).href;
  for (const file of readdirSync(RAW)) {
    const path = join(RAW, file);
    // Tests kill processes at any moment, also when they have begun to write their report: then nothing of it is known.
    const report = readReport<{ result: { url: string }[] }>(path);
    const result = report?.result.filter(({ url }) => url.startsWith(own)) ?? [];
    if (result.length === 0) rmSync(path);
    else writeFileSync(path, JSON.stringify({ result }));
  }
}

interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** A runner that broke before it could report has failed, even if everything else passed. */
const BROKEN: Count = { passed: 0, failed: 1 };

function countVitest(file: string): Count {
  const report = readReport<{
    numPassedTests: number;
    numFailedTests: number;
    numFailedTestSuites: number;
    success: boolean;
  }>(file);
  if (report === undefined || report.numPassedTests === 0) return BROKEN;
  const unexplained = !report.success && report.numFailedTests === 0 ? 1 : 0;
  return { passed: report.numPassedTests, failed: report.numFailedTests + unexplained };
}

function countCucumber(): Count {
  const report = readReport<{ elements?: { steps: { result: { status: string } }[] }[] }[]>("coverage/cucumber.json");
  const scenarios = report?.flatMap((feature) => feature.elements ?? []) ?? [];
  if (scenarios.length === 0) return BROKEN;
  const passed = scenarios.filter((scenario) => scenario.steps.every((step) => step.result.status === "passed")).length;
  return { passed, failed: scenarios.length - passed };
}

function readReport<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as T;
  } catch (error) {
    const [reason] = String(error).split("\n");
    console.error(`${file} cannot be read: ${reason}`);
    return undefined;
  }
}
