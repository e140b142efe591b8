/** Entry of the benchmarks: `npm run bench -- NAME [--quick | --smoke] [--dir DIRECTORY]`. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { run as runAgent } from "./agent.ts";
import { run as runBreaker } from "./breaker.ts";
import { run as runChanges } from "./changes.ts";
import { run as runConfinement } from "./confinement.ts";
import { run as runDependencies } from "./dependencies.ts";
import { run as runContext } from "./context.ts";
import { run as runEdits } from "./edits.ts";
import { run as runContextHistory } from "./context-history.ts";
import { run as runGraph } from "./graph.ts";
import type { BenchSize } from "./measure.ts";
import { run as runOracle } from "./oracle.ts";
import { run as runRealProjects } from "./real-projects.ts";
import { run as runScale } from "./scale.ts";
import { run as runSteps } from "./steps.ts";

const MEASUREMENTS = [
  "steps",
  "graph",
  "breaker",
  "scale",
  "changes",
  "context",
  "context-history",
  "confinement",
  "dependencies",
  "edits",
  "oracle",
  "real-projects",
  "agent",
] as const;
type Measurement = (typeof MEASUREMENTS)[number];

const WITH_PEERS: ReadonlySet<Measurement> = new Set(["steps", "graph", "breaker", "context"]);
const PEERS = join(import.meta.dirname, "peers");
const USAGE = `usage: npm run bench -- steps|graph|breaker|scale|changes|context|context-history|confinement|dependencies|edits|real-projects|oracle|agent|all [--quick | --smoke] [--dir DIRECTORY]
  steps    durable steps per second beside LangGraph.js and Mastra
  graph    graphs of durable steps beside LangGraph.js and Mastra; what a call of a model costs beside the AI SDK alone
  breaker  cost of a circuit breaker's call beside cockatiel and opossum
  scale    the command line and a transition with 1,000 and with 1,000,000 plans in the store
  changes  recorded writes, sandboxes, diffs and applies beside plain writes and git
  context  what contexts cost and show, beside repomix and a ranking like Aider's
  context-history  whether contexts show what real changes touched, beside BM25 and a ranking like Aider's
  confinement  what a confined command costs beside one that is not
  dependencies what it costs that node_modules of 20,000 files comes along into a sandbox
  edits    how many slightly wrong edits are applied as they were meant, beside exact match
  oracle   how many tasks a model solves that mends only what it is shown, and the tokens it reads
  real-projects whether the tests of packages from the registry end in a sandbox as in their checkout
  agent    tokens, price and time of scripted tasks beside opencode, Codex and pi, and what is left after a kill
  all      one after the other
  --smoke  whether each still works, in seconds: nothing is installed or fetched, a peer that is missing is left out
  --quick  fewer rounds; 100,000 plans; no tree of 50,000 files
  --dir    where the databases are made (default: the system's directory for temporary files); it should be on a real disk`;

await main();

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      smoke: { type: "boolean", default: false },
      dir: { type: "string", default: tmpdir() },
    },
  });
  const [name, ...rest] = positionals;
  const chosen = MEASUREMENTS.filter((known) => name === known || name === "all");
  if (rest.length > 0 || chosen.length === 0 || (values.quick && values.smoke)) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  console.log(`Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model}`);
  sayLoad("before");
  const size = values.smoke ? "smoke" : values.quick ? "quick" : "full";
  for (const one of chosen) {
    if (chosen.length > 1) console.log(`\n=== ${one}`);
    await measure(one, { size, dir: values.dir });
  }
  sayLoad("after");
}

async function measure(name: Measurement, { size, dir }: { size: BenchSize; dir: string }): Promise<void> {
  if (WITH_PEERS.has(name) && size !== "smoke") installPeers();
  const options = { peersDir: PEERS, dir, size };
  switch (name) {
    case "steps":
      return runSteps(options);
    case "graph":
      return runGraph(options);
    case "breaker":
      return runBreaker(options);
    case "scale":
      return runScale(options);
    case "changes":
      return runChanges(options);
    case "context":
      return runContext(options);
    case "context-history":
      return runContextHistory(options);
    case "confinement":
      return runConfinement(options);
    case "oracle":
      return runOracle(options);
    case "edits":
      return runEdits(options);
    case "dependencies":
      return runDependencies(options);
    case "real-projects":
      return runRealProjects(options);
    case "agent":
      return runAgent(options);
  }
}

/**
 * Interleaved rounds keep ratios fair on a busy machine, but absolute numbers are worth only as much as it was idle.
 */
function sayLoad(when: string): void {
  const [load = 0] = loadavg();
  const busy = load > cpus().length / 2 ? "; the machine is busy with other things, absolute numbers are too low" : "";
  console.log(
    `load average ${when}: ${load.toFixed(1)} on ${cpus().length} processors${when === "before" ? busy : ""}`,
  );
}

function installPeers(): void {
  if (isInstalled()) return;
  console.log(
    "Installing the peers to compare with into bench/peers/node_modules (npm ci; about 250 MB, needs the network) …",
  );
  // Run by npm, its own entry is known; that spares a shell and works on every system.
  const npm = process.env["npm_execpath"]?.endsWith("npm-cli.js") ? process.env["npm_execpath"] : undefined;
  const [command, before] = npm === undefined ? ["npm", []] : [process.execPath, [npm]];
  const { status, error } = spawnSync(command, [...before, "ci", "--no-audit", "--no-fund"], {
    cwd: PEERS,
    stdio: "inherit",
    shell: npm === undefined && process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm ci in bench/peers failed: ${error?.message ?? `exit code ${status}`}`);
}

/**
 * npm writes this file last: a directory without it is missing, or what an interrupted installation left. And peers
 * come to be.
 */
function isInstalled(): boolean {
  const installed = join(PEERS, "node_modules", ".package-lock.json");
  if (!existsSync(installed)) return false;
  const { dependencies }: { dependencies: Record<string, string> } = read(join(PEERS, "package.json"));
  const { packages }: { packages: Record<string, { version: string }> } = read(installed);
  return Object.entries(dependencies).every(([name, version]) => packages[`node_modules/${name}`]?.version === version);
}

function read<T>(file: string): T {
  return JSON.parse(readFileSync(file, "utf8")) as T;
}
