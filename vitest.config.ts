import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Sources are loaded by Node itself (type stripping keeps every position), not transformed by Vite: worker threads, child
// processes and the tests then run the same bytes, and one V8 coverage format covers all of them.
const shared: { pool: "forks"; globalSetup: string[]; setupFiles: string[]; server: { deps: { external: RegExp[] } } } =
  {
    pool: "forks",
    globalSetup: ["scripts/vitest-postgres.ts"],
    setupFiles: ["scripts/vitest-setup.ts"],
    server: { deps: { external: [/\/src\/(?!.*\.test\.ts$)/] } },
  };

const SHARING = [
  "actors/graph",
  "actors/loop",
  "actors/scripted",
  "apply",
  "catalog",
  "changes",
  "context/stages",
  "domain",
  "ledger",
  "plans",
  "runs",
  "store",
].map((room) => `src/${room}/**/*.test.ts`);
const INTEGRATION = "src/**/*.integration.test.ts";

export default defineConfig({
  test: {
    // A missing page of the book (src/cli/book) is a failure, here as in CI; --update writes it.
    update: "none",
    // Most of the time is spent waiting for processes that tests start; by default one processor would be left idle.
    maxWorkers: availableParallelism(),
    projects: [
      {
        // Rooms whose tests change nothing of the process share one: to start it and to load the same modules for each
        // file took 0.4 s of processor time.
        test: {
          ...shared,
          name: "unit-shared",
          include: SHARING,
          exclude: [INTEGRATION],
          isolate: false,
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...shared,
          name: "unit",
          include: ["src/**/*.test.ts"],
          exclude: [INTEGRATION, ...SHARING],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...shared,
          name: "integration",
          include: [INTEGRATION],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
