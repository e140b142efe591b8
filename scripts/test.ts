import { mkdirSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { SIZES } from "../src/testing/size.ts";
import { PROMISES } from "./promises.ts";
import { check, commandsWithoutBubblewrap, conclude, features, type Outcome, vitest } from "./test-run.ts";

/**
 * Everything a change must pass, on the bundle that users run.
 *
 *   npm test              everything, in about 20 minutes
 *   npm run test:quick    unit tests and one scenario for each promise, in about two
 *   npm run test:full     everything, with many more seeds, schedules and kills
 *
 * Two lanes run side by side: tests mostly wait for processes and disks, and the other lane uses that time.
 */
type Step = () => Promise<Outcome>;

const DIRECTORY = ".test-run";

const [wanted = "normal"] = parseArgs({ allowPositionals: true }).positionals;
const size = SIZES.find((known) => known === wanted);
if (size === undefined) throw new Error(`the size is one of ${SIZES.join(", ")}, not "${wanted}"`);
rmSync(DIRECTORY, { recursive: true, force: true });
mkdirSync(DIRECTORY);
const run = { directory: DIRECTORY, environment: { CLEVERAGENTS_TEST_SIZE: size } };

const build = await check("build", ["node", "scripts/build.ts"]);
// Without a bundle nothing else says anything about this checkout.
const lanes = build.failed > 0 ? [] : size === "quick" ? quick() : everything();
const outcomes = await Promise.all(lanes.map(inTurn));
conclude([build, ...outcomes.flat()]);

function quick(): readonly Step[][] {
  return [[() => vitest(run, "tests", ["--project", "unit*"])], [() => features(run, Object.values(PROMISES))]];
}

function everything(): readonly Step[][] {
  return [
    [() => vitest(run, "tests"), () => commandsWithoutBubblewrap(run)],
    [
      () => check("typecheck", ["npm", "run", "--silent", "typecheck"]),
      () => check("lint", ["npm", "run", "--silent", "lint"]),
      () => check("check", ["npm", "run", "--silent", "check"]),
      () => features(run),
      () => check("planted bugs", ["node", "scripts/planted.ts", "--sample", "6"]),
      () => check("attacks", ["node", "attack/run.ts", "--quick"]),
      () => check("benches", ["node", "bench/run.ts", "all", "--smoke"]),
      ...(size === "full"
        ? [
            () => check("conformance", ["node", "conformance/run.ts"]),
            () => check("kills of agents", ["node", "conformance/kills.ts"]),
          ]
        : []),
    ],
  ];
}

async function inTurn(steps: readonly Step[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const step of steps) outcomes.push(await step());
  return outcomes;
}
