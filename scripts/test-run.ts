import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { confinementHere } from "../src/confinement/availability.ts";
import { COMMAND_TESTS } from "./command-tests.ts";
import { stage } from "./stage.ts";

/** The parts of the test suite, each counted. `npm test` runs them side by side, coverage one after another. */
export interface TestRun {
  /** Where the runners leave their reports. */
  readonly directory: string;
  readonly environment?: NodeJS.ProcessEnv;
}

export interface Outcome {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
}

export function vitest(run: TestRun, name: string, words: readonly string[] = []): Promise<Outcome> {
  const report = join(run.directory, `${name.replaceAll(" ", "-")}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  return counted(run, { name, command: ["vitest", "run", ...words, ...reporters] }, () => countVitest(report));
}

/** The scenarios of features/; with names, those alone. */
export function features(run: TestRun, names: readonly string[] = []): Promise<Outcome> {
  const report = join(run.directory, "features.json");
  const words = names.flatMap((name) => ["--name", `^${name}$`]);
  return counted(run, { name: "features", command: ["cucumber-js", "--format", `json:${report}`, ...words] }, () => {
    const count = countCucumber(report);
    // A name that no scenario has anymore must not pass unseen.
    const missing = Math.max(0, names.length - count.passed - count.failed);
    return { passed: count.passed, failed: count.failed + missing };
  });
}

/** The tests of commands once more, with the confinement that takes over where bubblewrap is missing. */
export async function commandsWithoutBubblewrap(run: TestRun): Promise<Outcome> {
  const name = "commands without bubblewrap";
  const { kind } = await confinementHere();
  if (kind !== "bubblewrap") {
    console.log(`── ${name}: the tests ran so already (${kind})`);
    return { name, passed: 0, failed: 0 };
  }
  const directory = join(run.directory, "broken-programs");
  mkdirSync(directory);
  // Found before the real one, and tried as it would be.
  writeFileSync(join(directory, "bwrap"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const PATH = `${directory}${delimiter}${process.env["PATH"]}`;
  return vitest({ ...run, environment: { ...run.environment, PATH } }, name, COMMAND_TESTS);
}

/** Any other command: one test, which passes when the command succeeds. */
export async function check(name: string, command: readonly string[]): Promise<Outcome> {
  return (await stage({ name, command })) ? { name, passed: 1, failed: 0 } : { name, passed: 0, failed: 1 };
}

/** Says what did not pass, and counts; a caller of the script reads the last line and the exit code. */
export function conclude(outcomes: readonly Outcome[]): void {
  const passed = outcomes.reduce((sum, one) => sum + one.passed, 0);
  const failed = outcomes.reduce((sum, one) => sum + one.failed, 0);
  const names = outcomes.flatMap((one) => (one.failed > 0 ? [one.name] : []));
  if (names.length > 0) console.error(`\nnot passed: ${names.join(", ")}`);
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

interface Count {
  readonly passed: number;
  readonly failed: number;
}

async function counted(
  { environment = {} }: TestRun,
  runner: { readonly name: string; readonly command: readonly string[] },
  count: () => Count,
): Promise<Outcome> {
  const succeeded = await stage({ ...runner, environment, live: true });
  const { passed, failed } = count();
  // A runner that fails for a reason of its own has failed, even if every test passed.
  return { name: runner.name, passed, failed: succeeded ? failed : Math.max(failed, 1) };
}

/** A runner that broke before it could report. */
const BROKEN: Count = { passed: 0, failed: 1 };

function countVitest(file: string): Count {
  const report = readReport<{ numPassedTests: number; numFailedTests: number }>(file);
  if (report === undefined || report.numPassedTests === 0) return BROKEN;
  return { passed: report.numPassedTests, failed: report.numFailedTests };
}

function countCucumber(file: string): Count {
  const report = readReport<{ elements?: { steps: { result: { status: string } }[] }[] }[]>(file);
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
