import { runTests } from "./test-run.ts";

const { passed, failed, coverageMet } = await runTests();
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && coverageMet ? 0 : 1;
