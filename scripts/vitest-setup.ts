import { enableCompileCache, flushCompileCache } from "node:module";
import { join } from "node:path";
import v8 from "node:v8";
import { afterAll } from "vitest";

if (process.env["NODE_V8_COVERAGE"] === undefined) {
  // To strip and compile the sources takes 0.9 s of processor time in each process that loads all of them, and 0.35 s
  // with this cache. The processes and threads that a test starts use it too. Cached code has no exact coverage.
  const directory = join(import.meta.dirname, "../node_modules/.cache/compiled");
  enableCompileCache(directory);
  process.env["NODE_COMPILE_CACHE"] = directory;
  // Vitest ends its worker processes without a normal exit, which is when Node would write the cache.
  afterAll(() => flushCompileCache());
} else {
  // The same holds for the coverage of the process.
  afterAll(() => v8.takeCoverage());
}
