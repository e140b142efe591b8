import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Sources are loaded by Node itself (type stripping keeps every position), not transformed by Vite: worker threads, child
// processes and the tests then run the same bytes, and one V8 coverage format covers all of them.
const shared: { pool: "forks"; setupFiles: string[]; server: { deps: { external: RegExp[] } } } = {
  pool: "forks",
  setupFiles: ["scripts/vitest-setup.ts"],
  server: { deps: { external: [/\/src\/(?!.*\.test\.ts$)/] } },
};

export default defineConfig({
  test: {
    // Most of the time is spent waiting for processes that tests start; by default one processor would be left idle.
    maxWorkers: availableParallelism(),
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["src/**/*.test.ts"],
          exclude: ["src/**/*.integration.test.ts"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...shared,
          name: "integration",
          include: ["src/**/*.integration.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
