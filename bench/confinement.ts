/**
 * The cost of confinement: a command that does nothing, and a git that says its version, confined by each backend that
 * works here, beside the same started the same way without. Interleaved, so that other load on the machine affects all
 * of them alike.
 */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { requireProgram } from "../src/platform/programs.ts";
import { confinedGit } from "../src/git/confined-git.ts";
import { startLaunched } from "../src/confinement/start.ts";
import { runProgram } from "../src/execution/tools/shell.ts";
import { OnlyBackend, workingBackends, type BackendName } from "../src/confinement/testing/backends.ts";
import type { BenchSize } from "./measure.ts";

interface Way {
  readonly name: BackendName;
  readonly only: OnlyBackend;
  readonly commands: number[];
  readonly gits: number[];
}

export async function run({ dir, size }: { dir: string; size: BenchSize }): Promise<void> {
  const rounds = { smoke: 2, quick: 30, full: 200 }[size];
  const home = mkdtempSync(join(dir, "cleveragents-confinement-"));
  const root = join(home, "tree");
  mkdirSync(root);
  const names = ["none" as const, ...(await workingBackends())];
  using only = new DisposableStack();
  const ways: Way[] = names.map((name) => ({ name, only: only.use(new OnlyBackend(name)), commands: [], gits: [] }));
  try {
    // The first round finds out what confines, and is not counted.
    for (let round = -1; round < rounds; round += 1) {
      for (const way of ways) {
        way.only.here();
        const command = await timed(() => doNothing(root));
        const git = await timed(() => sayVersion(root));
        if (round < 0) continue;
        way.commands.push(command);
        way.gits.push(git);
      }
    }
  } finally {
    rmSync(home, { recursive: true });
  }
  tell(
    "command",
    ways.map(({ name, commands }) => [name, commands]),
  );
  tell(
    "git",
    ways.map(({ name, gits }) => [name, gits]),
  );
}

async function doNothing(root: string): Promise<void> {
  const signal = new AbortController().signal;
  const { code } = await runProgram(["/bin/true"], {
    root,
    cwd: root,
    timeoutMs: 60_000,
    signal,
    network: false,
    requireConfinement: false,
  });
  if (code !== 0) throw new Error(`exit code ${code}`);
}

async function sayVersion(root: string): Promise<void> {
  const environment = { PATH: process.env["PATH"] };
  const launch = await confinedGit(requireProgram("git"), ["--version"], {
    cwd: root,
    writable: [root],
    objects: undefined,
    environment,
  });
  const child = startLaunched(launch, { cwd: root, record: undefined });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`exit code ${String(code)}`);
}

async function timed(run: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

function tell(what: string, ways: readonly (readonly [name: BackendName, times: readonly number[]])[]): void {
  const plain = median(ways[0]?.[1] ?? []);
  for (const [name, times] of ways) {
    const own = median(times);
    const more = name === "none" ? "" : `  ${(own / plain).toFixed(1)} ×  +${(own - plain).toFixed(1)} ms`;
    console.log(
      `${what.padEnd(8)} ${name.padEnd(11)} ${own.toFixed(1).padStart(6)} ms (best ${Math.min(...times).toFixed(1)})${more}`,
    );
  }
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}
