import { stage } from "./stage.ts";
import { runTests } from "./test-run.ts";

// Everything a change must pass, in the order in which a mistake is cheapest to see. A failing check counts as a failed
// test.
const checks: [name: string, command: string[]][] = [
  ["build", ["node", "scripts/build.ts"]],
  ["typecheck", ["npm", "run", "--silent", "typecheck"]],
  ["lint", ["npm", "run", "--silent", "lint"]],
  ["check", ["npm", "run", "--silent", "check"]],
  ["planted bugs", ["node", "scripts/planted.ts", "--sample", "6"]],
  ["attacks", ["node", "attack/run.ts", "--quick"]],
];
const broken: string[] = [];
for (const [name, command] of checks) {
  if (!(await stage(name, command))) broken.push(name);
}
const { passed, failed, coverageMet } = await runTests();
if (!coverageMet) broken.push("coverage");
if (broken.length > 0) console.error(`\nnot passed: ${broken.join(", ")}`);
console.log(`\n${passed + checks.length + 1 - broken.length} passed, ${failed + broken.length} failed`);
process.exitCode = failed === 0 && broken.length === 0 ? 0 : 1;
