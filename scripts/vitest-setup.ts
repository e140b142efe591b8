import v8 from "node:v8";
import { afterAll } from "vitest";

// Vitest ends its worker processes without a normal exit, which is when Node would write the coverage of the process.
if (process.env["NODE_V8_COVERAGE"] !== undefined) afterAll(() => v8.takeCoverage());
