/**
 * The cost of dependencies that come along: a sandbox is made and its first two commands run, for a checkout with
 * 20,000 files in node_modules and for the same one without, with each backend that works here, interleaved.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OnlyBackend, workingBackends, type BackendName } from "../src/confinement/testing/backends.ts";
import { monotonicIds, type PlanId } from "../src/domain/names/ids.ts";
import { discardSandbox } from "../src/execution/sandbox/sandbox-inventory.ts";
import { openSandbox } from "../src/execution/sandbox/sandbox.ts";
import { UserRepository } from "../src/execution/testing/user-repository.ts";
import { borrowedBy, runShell } from "../src/execution/tools/shell.ts";
import type { BenchSize } from "./measure.ts";

const [PACKAGES, FILES] = [500, 40] as const;

interface Times {
  readonly made: number[];
  readonly later: number[];
}

const ROUNDS = { smoke: 1, quick: 5, full: 20 } as const satisfies Record<BenchSize, number>;

export async function run({ dir, size }: { readonly dir: string; readonly size: BenchSize }): Promise<void> {
  const directory = mkdtempSync(join(dir, "cleveragents-dependencies-"));
  await using plain = await UserRepository.make({ ".gitignore": "node_modules\n", "a.js": "1\n" });
  await using full = await UserRepository.make({ ".gitignore": "node_modules\n", "a.js": "1\n" });
  install(full.path, size === "smoke" ? 5 : PACKAGES);
  try {
    for (const backend of await workingBackends()) {
      using _only = new OnlyBackend(backend).here();
      const [without, along]: [Times, Times] = [
        { made: [], later: [] },
        { made: [], later: [] },
      ];
      // The first round finds out what confines, and is not counted.
      for (let round = -1; round < ROUNDS[size]; round += 1) {
        await measure(directory, plain, round < 0 ? undefined : without);
        await measure(directory, full, round < 0 ? undefined : along);
      }
      tell(backend, "sandbox and first command", without.made, along.made);
      tell(backend, "each later command", without.later, along.later);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function install(checkout: string, packages: number): void {
  for (let index = 0; index < packages; index += 1) {
    const directory = join(checkout, "node_modules", `package-${index}`, "lib");
    mkdirSync(directory, { recursive: true });
    for (let file = 0; file < FILES; file += 1)
      writeFileSync(join(directory, `${file}.js`), `module.exports = ${file};\n`);
  }
}

async function measure(directory: string, { path }: UserRepository, times: Times | undefined): Promise<void> {
  const place = { directory, planId: monotonicIds()() as PlanId, attempt: 1 };
  const target = { alias: "code", strategy: "git_worktree", path, branch: undefined, readOnly: false } as const;
  const started = performance.now();
  const sandbox = await openSandbox(place, target);
  const command = async (): Promise<void> => {
    const { code } = await runShell("test -e a.js", {
      root: sandbox.root,
      cwd: sandbox.root,
      timeoutMs: 60_000,
      signal: new AbortController().signal,
      network: false,
      requireConfinement: true,
      readable: borrowedBy(sandbox),
      carried: sandbox.carried,
    });
    if (code !== 0) throw new Error(`exit code ${code}`);
  };
  await command();
  const first = performance.now();
  await command();
  times?.made.push(first - started);
  times?.later.push(performance.now() - first);
  await discardSandbox(place, target.alias);
}

function tell(backend: BackendName, what: string, without: readonly number[], along: readonly number[]): void {
  const [before, after] = [median(without), median(along)];
  const more = `${(after / before).toFixed(2)} ×  +${(after - before).toFixed(1)} ms`;
  console.log(`${backend.padEnd(11)} ${what.padEnd(26)} ${before.toFixed(1)} → ${after.toFixed(1)} ms  ${more}`);
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}
