import { accessSync, constants, existsSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import type { InstalledAgent } from "../../actors/outside/installed-agents.ts";
import { agentEndpoint, knownAgentActor } from "../../domain/actor/known-agents.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import { providerSettingKeys } from "../../domain/settings/provider-settings.ts";
import { SETTINGS } from "../../domain/settings/settings.ts";
import { newestAuditAt } from "../../store/tables/audit.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { runActor } from "../procedures/plan-defaults.ts";

const Check = z.strictObject({
  name: z.string(),
  status: z.enum(["ok", "warning", "error"]),
  message: z.string(),
  /** Commands that mend it, ours or those of the system. */
  fixes: NextSteps,
});
type Check = z.output<typeof Check>;

const LEAST_SPACE = 200 * 1024 * 1024;

/** Checks everything the program stands on, and continues when one check fails. */
export const operation = defineOperation({
  input: z.strictObject({
    /** Start each installed agent for a moment, to learn its version and protocol. */
    agents: z.boolean().default(false),
    /** Ask the model that runs would ask one short question. */
    model: z.boolean().default(false),
  }),
  output: z.strictObject({
    checks: z.array(Check),
    summary: z.strictObject({ ok: z.int(), warnings: z.int(), errors: z.int() }),
    hasErrors: z.boolean(),
    hasWarnings: z.boolean(),
    dataDir: z.string(),
    confinement: z.string(),
  }),
  run: async (app, input, call) => {
    const checks = [
      await check("runtime", async () => `Node ${process.versions.node}, SQLite ${process.versions["sqlite"] ?? "?"}`),
      await check("configuration", () => configuration(app)),
      await check("data directory", async () => dataDirectory(app.paths.dataDir)),
      await check("disk space", async () => diskSpace(app.paths.dataDir)),
      await check("database", () => database(app)),
      await check("clock", () => clock(app)),
      await check("git", git),
      await check("search", search),
      await check("confinement", confinement),
      await check("tool directories", () => toolDirectories(app)),
      await check("model", () => model(app, input.model, call)),
      ...(await agents(app, input.agents, call.signal)),
    ];
    const { confinementHere } = await import("../../confinement/availability.ts");
    const { kind } = await confinementHere();
    const errors = checks.filter(({ status }) => status === "error").length;
    const warnings = checks.filter(({ status }) => status === "warning").length;
    return {
      checks,
      summary: { ok: checks.length - errors - warnings, warnings, errors },
      hasErrors: errors > 0,
      hasWarnings: warnings > 0,
      dataDir: app.paths.dataDir,
      confinement: kind,
    };
  },
});

/** A finding that is not a failure, but that the user should know, and what mends it. */
class Warning extends Error {
  readonly fixes: readonly NextStep[];

  constructor(message: string, ...fixes: readonly NextStep[]) {
    super(message);
    this.fixes = fixes;
  }
}

async function check(name: string, probe: () => Promise<string>): Promise<Check> {
  try {
    return { name, status: "ok", message: await probe(), fixes: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof Warning) return { name, status: "warning", message, fixes: error.fixes };
    return { name, status: "error", message, fixes: error instanceof AgentsError ? error.next : [] };
  }
}

async function configuration(app: App): Promise<string> {
  for (const { key } of SETTINGS) await app.setting(key);
  const keys = [...(await app.config()).global.keys()];
  const ofProviders = new Set(providerSettingKeys(keys));
  const unknown = keys.filter((key) => !ofProviders.has(key) && !SETTINGS.some((known) => known.key === key));
  if (unknown.length > 0)
    throw new Warning(
      `${app.paths.config} has unknown keys: ${unknown.join(", ")}`,
      ...unknown.map((key) => nextStep("config.unset", { key })),
    );
  return existsSync(app.paths.config) ? app.paths.config : `${app.paths.config} is not there; defaults apply`;
}

function dataDirectory(dataDir: string): string {
  if (!existsSync(dataDir))
    throw new Warning(`${dataDir} is not there yet; "agents init" creates it`, nextStep("init"));
  accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  // A full disk, a quota or a file system that became read-only are seen only by writing.
  const probe = join(dataDir, `.probe-${process.pid}`);
  try {
    writeFileSync(probe, "x", { flush: true });
  } finally {
    rmSync(probe, { force: true });
  }
  const mode = statSync(dataDir).mode & 0o777;
  if ((mode & 0o077) !== 0)
    throw new Warning(`${dataDir} can be read by others (mode ${mode.toString(8)})`, { text: `chmod 700 ${dataDir}` });
  return `${dataDir} (mode ${mode.toString(8)})`;
}

function diskSpace(dataDir: string): string {
  let existing = dataDir;
  while (!existsSync(existing) && existing !== dirname(existing)) existing = dirname(existing);
  const { bavail, bsize } = statfsSync(existing);
  const free = bavail * bsize;
  const text = `${Math.floor(free / 1024 / 1024)} MiB free`;
  if (free < LEAST_SPACE) throw new Warning(text, nextStep("cleanup.run"));
  return text;
}

async function database(app: App): Promise<string> {
  if (!(await app.hasStore())) throw new Warning(`${app.paths.database} is not there yet`, nextStep("init"));
  const store = await app.store();
  const schema = await store.read((reader) =>
    reader.get<{ version: number }>("SELECT MAX(version) AS version FROM schema_migrations"),
  );
  return `${store.place} (schema ${schema?.version}, ${await store.check()})`;
}

async function confinement(): Promise<string> {
  const { confinementHere } = await import("../../confinement/availability.ts");
  const { kind, says, next } = await confinementHere();
  if (kind !== "none") return says;
  throw new Warning(
    `${says}: plans refuse to run commands, unless their profile does not require confinement`,
    ...(next === undefined ? [] : [{ text: next }]),
  );
}

/** Agents of other makers that are installed. */
async function agents(app: App, start: boolean, signal: AbortSignal): Promise<Check[]> {
  const { installedAgents } = await import("../../actors/outside/installed-agents.ts");
  const sources = await app.agentSources();
  const checks: Check[] = [];
  for (const installed of installedAgents(sources)) {
    const name = `agent ${installed.agent}`;
    checks.push(await check(name, () => agentFinding(app, installed, start ? signal : undefined)));
  }
  return checks;
}

const AGENT_START_MS = 60_000;

async function agentFinding(app: App, installed: InstalledAgent, signal: AbortSignal | undefined): Promise<string> {
  const actor = knownAgentActor(installed.agent);
  const model = await app.agentModel(actor).then(
    (ref) => `works with ${ref.provider}/${ref.model}`,
    () => `has no model; set acp.${installed.agent}.model`,
  );
  const { confinementHere } = await import("../../confinement/availability.ts");
  const { kind } = await confinementHere();
  const parts = [installed.program.path, `asks by ${agentEndpoint(actor)}`, model];
  if (signal !== undefined) {
    const { probedAgent } = await import("../../actors/outside/agent-probe.ts");
    const facts = await probedAgent(installed, app.environment, { startMs: AGENT_START_MS, signal });
    parts.push(`${facts.name} ${facts.version ?? "of unknown version"}`, facts.protocol);
  }
  if (kind === "none") throw new Warning([...parts, "cannot be confined here, so plans refuse it"].join("; "));
  return [...parts, `confined by ${kind}`].join("; ");
}

async function toolDirectories(app: App): Promise<string> {
  await app.commandPolicy();
  const { shownTools } = await import("../../confinement/mounts.ts");
  const shown = shownTools();
  const found = shown.length === 0 ? "none besides those of the system" : shown.join(", ");
  return `commands of plans can read: ${found}`;
}

async function search(): Promise<string> {
  const { ripgrepProgram } = await import("../../execution/tools/ripgrep.ts");
  const program = ripgrepProgram();
  if (program !== undefined) return `ripgrep (${program})`;
  throw new Warning("ripgrep is not installed for this platform; files are searched by a slower scan");
}

async function git(): Promise<string> {
  const { requireGit } = await import("../../git/git.ts");
  const version = await requireGit().catch((error: unknown) => {
    const fixes = error instanceof AgentsError ? error.next : [];
    throw new Warning(error instanceof Error ? error.message : String(error), ...fixes);
  });
  return `git ${version}`;
}

const CLOCK_SLACK_MS = 60_000;

/** Leases and ages are judged by the clock: one that went back makes new entries older than those that are there. */
async function clock(app: App): Promise<string> {
  const now = Date.now();
  const newest = (await app.hasStore()) ? await (await app.store()).read(newestAuditAt) : undefined;
  if (newest === undefined || newest <= now + CLOCK_SLACK_MS) return new Date(now).toISOString();
  const text = `it is ${new Date(now).toISOString()} here, and the newest entry of the audit log is of ${new Date(newest).toISOString()}`;
  throw new Warning(text, { text: "timedatectl status" });
}

/** The model that a run without `--actor` asks; it is asked only on request, because an answer may cost money. */
async function model(app: App, ask: boolean, call: Call): Promise<string> {
  const name = await runActor(app, undefined).catch((error: unknown) => {
    if (!(error instanceof AgentsError)) throw error;
    throw new Warning(error.message, ...error.next);
  });
  if (!ask) return `${name}; asked by agents doctor --model`;
  const { operation: asking } = await import("./actor-run.ts");
  const started = performance.now();
  await asking.run(
    app,
    { actor: name, prompt: "Answer with the word OK and nothing else." },
    { ...call, tell: () => undefined },
  );
  return `${name} answered in ${((performance.now() - started) / 1000).toFixed(1)} s`;
}
