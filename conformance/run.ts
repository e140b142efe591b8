/**
 * The conformance table: each known agent is driven through its recipe with a scripted model, and each row says whether
 * what we rely on still holds. It tells when a new version of an agent breaks a recipe.
 *
 *   npm run conformance                 every agent, and the suite of the Model Context Protocol
 *   npm run conformance -- codex pi     these
 *   npm run conformance -- mcp          our MCP client and server, by the protocol's official suite
 *
 * An agent that is not on the PATH is installed by npm into a cache in the temporary directory, in the version that the
 * recipe names; so is the suite. Exits 1 when a row fails; a row that cannot be tried is skipped with its reason.
 * Everything has a time limit, and nothing of an agent runs on.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { installedAgents, type AgentSources } from "../src/actors/outside/installed-agents.ts";
import { RECIPES } from "../src/actors/outside/recipes/recipes.ts";
import { AGENT_NAMES, isAgentName, type AgentName } from "../src/domain/names/agent-names.ts";
import { mcpSuite, SUITE } from "./mcp/suite.ts";
import { ROWS } from "./rows.ts";
import type { Verdict } from "./verdict.ts";

const CACHE = join(tmpdir(), "cleveragents-conformance");
const INSTALL_MS = 240_000;
/** All rows take an agent one to three minutes; one that hangs does not take much longer. */
const AGENT_MS = 900_000;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => name !== "mcp" && !isAgentName(name));
if (unknown.length > 0)
  throw new Error(`unknown: ${unknown.join(", ")}; known are ${[...AGENT_NAMES, "mcp"].join(", ")}`);
const agents = wanted.length === 0 ? AGENT_NAMES : AGENT_NAMES.filter((name) => wanted.includes(name));

const table: Verdict[] = [];
for (const agent of agents) {
  const sources = sourcesOf(agent) ?? installed(agent);
  if (typeof sources !== "string") console.log(`${agent.padEnd(9)} ${programOf(agent, sources)}`);
  const deadline = performance.now() + AGENT_MS;
  for (const { name, test } of ROWS) {
    const verdict =
      typeof sources === "string" ? { skipped: sources } : await tried(() => test({ agent, sources }), deadline);
    tell(agent, name, verdict);
  }
}
if (wanted.length === 0 || wanted.includes("mcp")) {
  const directory = join(CACHE, "mcp");
  const problem = packagesInstalled(directory, [SUITE]);
  if (problem === undefined) await mcpSuite(directory, ({ row, verdict }) => tell("mcp", row, verdict));
  else tell("mcp", "official suite", { skipped: problem });
}
const failed = table.filter((verdict) => "failed" in verdict).length;
const skipped = table.filter((verdict) => "skipped" in verdict).length;
console.log(`conformance: ${table.length - failed - skipped} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 ? 0 : 1);

function tell(subject: string, row: string, verdict: Verdict): void {
  table.push(verdict);
  console.log(`${subject.padEnd(9)} ${row.padEnd(28)} ${shown(verdict)}`);
}

async function tried(test: () => Promise<Verdict>, deadline: number): Promise<Verdict> {
  const left = deadline - performance.now();
  const late = { failed: `the agent took more than ${AGENT_MS / 60_000} minutes` };
  if (left <= 0) return late;
  const over = new AbortController();
  try {
    const waiting = sleep(left, late, { signal: over.signal }).catch(() => late);
    return await Promise.race([test(), waiting]);
  } catch (error) {
    return { failed: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) };
  } finally {
    over.abort();
  }
}

function shown(verdict: Verdict): string {
  if ("passed" in verdict) return `pass  ${verdict.passed}`;
  return "failed" in verdict ? `FAIL  ${verdict.failed}` : `skip  ${verdict.skipped}`;
}

/** Undefined for an agent that is not installed here. */
function sourcesOf(agent: AgentName): AgentSources | undefined {
  const { PATH = "" } = process.env;
  const cached = join(cacheOf(agent), "node_modules", ".bin");
  const sources = { settings: new Map<string, string>(), environment: { ...process.env, PATH: `${PATH}:${cached}` } };
  return programOf(agent, sources) === undefined ? undefined : sources;
}

function programOf(agent: AgentName, sources: AgentSources): string | undefined {
  return installedAgents(sources).find((one) => one.agent === agent)?.program.path;
}

/** Of its present versions: those before are installed beside them. */
function cacheOf(agent: AgentName): string {
  return join(CACHE, [agent, ...RECIPES[agent].packages.map(({ version }) => version)].join("-"));
}

/** The reason why not, otherwise. */
function installed(agent: AgentName): AgentSources | string {
  const { packages } = RECIPES[agent];
  const problem = packagesInstalled(cacheOf(agent), packages);
  return problem ?? sourcesOf(agent) ?? `npm installed ${packages.map(({ name }) => name).join(" ")} without a program`;
}

interface Package {
  readonly name: string;
  readonly version: string;
}

/** Installs packages into a directory of their own. The reason why not, otherwise. */
function packagesInstalled(directory: string, packages: readonly Package[]): string | undefined {
  if (packages.every((one) => installedVersion(directory, one.name) === one.version)) return undefined;
  mkdirSync(directory, { recursive: true });
  if (!existsSync(join(directory, "package.json"))) writeFileSync(join(directory, "package.json"), '{"private":true}');
  const words = packages.map(({ name, version }) => `${name}@${version}`);
  const done = spawnSync("npm", ["install", "--no-audit", "--no-fund", ...words], {
    cwd: directory,
    timeout: INSTALL_MS,
    encoding: "utf8",
  });
  if (done.status === 0) return undefined;
  const said = (done.stderr ?? "").split("\n").find((line) => /^npm (?:error|ERR!)/.test(line));
  return `npm could not install ${words.join(" ")}: ${done.error?.message ?? said ?? "it did not say why"}`;
}

function installedVersion(directory: string, name: string): unknown {
  const file = join(directory, "node_modules", name, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { version?: unknown }).version : undefined;
}
