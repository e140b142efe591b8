import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, commandsWithoutBubblewrap, conclude, features, vitest } from "./test-run.ts";

/**
 * The tests with V8 coverage on, in every process and thread they start, merged into one report. Processes of the
 * command line then run from the sources, so that their tests count for the lines they reach. Apart from `npm test`
 * because a process takes four times as long this way.
 */
const RAW = "coverage/raw";
const STRIPPED = "coverage/stripped";
const THRESHOLDS = ["--lines", "97", "--branches", "93"];

rmSync("coverage", { recursive: true, force: true });
mkdirSync(RAW, { recursive: true });
const run = {
  directory: "coverage",
  environment: {
    NODE_V8_COVERAGE: join(process.cwd(), RAW),
    NODE_OPTIONS: `--import=${pathToFileURL(stripSources()).href}`,
  },
};
const tests = [await vitest(run, "tests"), await commandsWithoutBubblewrap(run), await features(run)];
keepOwnSources();
const report = ["c8", "report", "--temp-directory", RAW, "--include", "src/**/*.ts", "--all", "--src", "src"];
const exclude = ["--exclude", "**/*.test.ts", "--exclude", "**/testing/**"];
const output = ["--reporter", "text", "--reporter", "html", "--reports-dir", "coverage/report"];
const thresholds = await check("coverage", [...report, ...exclude, ...output, "--check-coverage", ...THRESHOLDS]);
conclude([...tests, thresholds]);

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

/** Keeps the coverage of our own sources, a hundredth of what processes report, so that merging is quick. */
function keepOwnSources(): void {
  const own = pathToFileURL(join(process.cwd(), "src/")).href;
  for (const file of readdirSync(RAW)) {
    const path = join(RAW, file);
    const result = resultsOf(path).filter(({ url }) => url.startsWith(own));
    if (result.length === 0) rmSync(path);
    else writeFileSync(path, JSON.stringify({ result }));
  }
}

/** Tests kill processes at any moment, also in the middle of their report: such a report counts for nothing. */
function resultsOf(path: string): readonly { readonly url: string }[] {
  try {
    const { result }: { result: { url: string }[] } = JSON.parse(readFileSync(path, "utf8"));
    return result;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    console.error(`${path} was cut short`);
    return [];
  }
}
