import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

interface Report {
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

export interface TestRun {
  readonly passed: number;
  readonly failed: number;
  /** The names of the tests that failed, as a pattern would name them. */
  readonly failures: readonly string[];
  /** The file could not be loaded, or ended before its tests did. */
  readonly broken: boolean;
}

/** Runs the tests of one file whose names fit the pattern, in a copy of the sources. */
export async function vitestRun(copy: string, { test, pattern }: { test: string; pattern: string }): Promise<TestRun> {
  const output = join(copy, "planted-report.json");
  rmSync(output, { force: true });
  const words = ["run", test, "-t", pattern, "--reporter=json", `--outputFile=${output}`];
  const { NODE_V8_COVERAGE: _measured, ...env } = process.env;
  const vitest = spawn(process.execPath, [join(copy, "node_modules/vitest/vitest.mjs"), ...words], {
    cwd: copy,
    // Each copy has other paths, so nothing would ever be found in the cache again.
    env: { ...env, NODE_DISABLE_COMPILE_CACHE: "1" },
    stdio: "ignore",
  });
  await once(vitest, "close");
  if (!existsSync(output)) return { passed: 0, failed: 0, failures: [], broken: true };
  const { testResults } = JSON.parse(readFileSync(output, "utf8")) as Report;
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failures = results.flatMap(({ ancestorTitles, title, status }) =>
    status === "failed" ? [[...ancestorTitles, title].join(" > ")] : [],
  );
  const passed = results.filter(({ status }) => status === "passed").length;
  // vitest tells of a file that did not load as one that failed, with no test in it.
  const broken = testResults.some(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  return { passed, failed: failures.length, failures, broken };
}
