/**
 * A plan of a user that an agent of another maker carries out: by the command line, confined, through the gateway, with
 * the scripted model behind it. The user has a repository, another directory, a home and keys, which are none of the
 * agent's business.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strictSettings } from "../src/actors/testing/strict-server.ts";
import { openCleverAgents } from "../src/app/open.ts";
import { PRICE, REAL_KEYS } from "../src/app/testing/gateway-world.ts";
import type { Reader } from "../src/store/port.ts";
import { openStore } from "../src/store/sqlite/open-store.ts";
import { findProgram } from "../src/platform/programs.ts";
import { git, makeRepository } from "../src/testing/git-repository.ts";
import type { AgentName } from "../src/domain/names/agent-names.ts";
import type { AgentSources } from "../src/actors/outside/installed-agents.ts";
import { modelServer, type ModelQuestion, type ModelSaid, type ModelServer } from "./model-server.ts";
import { endAllAt, isQuietAt } from "./processes.ts";
import type { RunActor } from "./run-actors.ts";

const MAIN = join(import.meta.dirname, "../src/agents-program.ts");
const COMMAND_MS = 180_000;
const PROVIDERS = ["anthropic", "openai", "google"] as const;
const PROVIDER_OF: Readonly<Record<AgentName, (typeof PROVIDERS)[number]>> = {
  claude: "anthropic",
  codex: "openai",
  opencode: "openai",
  gemini: "google",
  qwen: "openai",
  pi: "openai",
  copilot: "openai",
};

export interface Tried {
  readonly agent: AgentName;
  readonly sources: AgentSources;
}

export type PlanScript = (question: ModelQuestion, world: PlanWorld) => ModelSaid | Promise<ModelSaid>;

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

interface Credit {
  readonly path: string;
  readonly tool: string;
  /** The answer that the change belongs to. */
  readonly chosen: string;
}

export class PlanWorld implements AsyncDisposable {
  readonly directory: string = mkdtempSync(join(tmpdir(), "cleveragents-with-agent-"));
  readonly repository: string = makeRepository(join(this.directory, "shop"));
  /** Another directory of the user's. */
  readonly other: string = join(this.directory, "other");
  readonly home: string = join(this.directory, "home");
  readonly #agent: AgentName;
  readonly #path: string;
  #server: ModelServer | undefined;

  private constructor({ agent, sources }: Tried) {
    this.#agent = agent;
    this.#path = sources.environment["PATH"] ?? "";
    for (const directory of [this.other, this.home]) mkdirSync(directory);
  }

  static async open(tried: Tried, script: PlanScript): Promise<PlanWorld> {
    const world = new PlanWorld(tried);
    try {
      // Titles and the like are asked for without tools.
      world.#server = await modelServer((question) =>
        question.tools.length === 0 ? { text: "A title" } : script(question, world),
      );
      await world.#configure();
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
    return world;
  }

  get server(): ModelServer {
    if (this.#server === undefined) throw new Error("the server was not started");
    return this.#server;
  }

  get dataDir(): string {
    return join(this.directory, "data");
  }

  async #configure(): Promise<void> {
    await using agents = await openCleverAgents({ dataDir: this.dataDir, directory: this.repository });
    const prices = PROVIDERS.map((name) => [`provider.${name}.prices`, `*=${PRICE.input}/${PRICE.output}`] as const);
    const settings: Readonly<Record<string, string>> = {
      ...strictSettings(this.server.url),
      ...Object.fromEntries(prices),
      [`acp.${this.#agent}.model`]: `${PROVIDER_OF[this.#agent]}/a-model`,
    };
    for (const [key, value] of Object.entries(settings)) await agents.run("config.set", { key, value });
  }

  commit(name: string, text: string): void {
    writeFileSync(join(this.repository, name), text);
    git(this.repository, "add", "--all");
    git(this.repository, "commit", "-qm", "files");
  }

  /** The user's file as it is now; undefined where there is none. */
  content(name: string): string | undefined {
    const path = join(this.repository, name);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  }

  /** Starts a command of ours as a process. */
  start(...words: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
    const child = spawn(process.execPath, [MAIN, "--data-dir", this.dataDir, "--format", "json", ...words], {
      cwd: this.repository,
      env: { PATH: this.#path, HOME: this.home, ...REAL_KEYS },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = { output: "", errors: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said.output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.errors += text));
    const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_MS);
    const ended = new Promise<Ended>((resolve) =>
      child.on("close", (code) => {
        clearTimeout(timer);
        resolve({ code, ...said });
      }),
    );
    return { child, ended };
  }

  /** @throws when the command fails. */
  async agents(...words: readonly string[]): Promise<unknown> {
    const { code, output, errors } = await this.start(...words).ended;
    if (code !== 0) throw new Error(`agents ${words.join(" ")}: ${saidOf(errors, output)}`);
    return JSON.parse(output) as unknown;
  }

  /** The words of a command that makes a plan and carries it out. */
  run(...more: readonly string[]): string[] {
    const actor = more.includes("--actor") ? [] : ["--actor", `acp/${this.#agent}`];
    return ["run", "Do what is to be done.", "--automation-profile", "trusted", ...actor, ...more];
  }

  /** `local/once`. Its program may lie beside that of the agent's recipe, or in a package of it. */
  async addActor({ run, env, endpoint }: RunActor): Promise<void> {
    const file = join(this.directory, "once.json");
    const [word = "", ...words] = run;
    const model = `${PROVIDER_OF[this.#agent]}/a-model`;
    const about = { name: "local/once", type: "acp", description: "Runs once for each prompt", endpoint, model };
    writeFileSync(file, JSON.stringify({ ...about, run: [this.#programOf(word), ...words], env }));
    await this.agents("actor", "add", "--config", file);
  }

  /** Claude Code is part of its adapter. */
  #programOf(word: string): string {
    const packages = this.#path.split(":").map((directory) => join(directory, "../@anthropic-ai"));
    const inside = packages.flatMap((directory) =>
      existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name, word)) : [],
    );
    return findProgram(word, this.#path) ?? inside.find((path) => existsSync(path)) ?? word;
  }

  /** The sandbox, as the agent tells its model of it. */
  cwd({ text }: ModelQuestion): string {
    const found = new RegExp(`${this.dataDir}/sandboxes/\\w+/\\d+/[\\w.-]+/tree`).exec(text)?.[0];
    if (found === undefined) throw new Error("the agent did not tell its model where it works");
    return found;
  }

  /** Everything that changed, with the answer that it is credited to. */
  credits(): Promise<Credit[]> {
    return this.reading((reader) =>
      reader.all<Credit>(
        `SELECT change_entries.path, tool_invocations.tool, decisions.chosen
           FROM change_entries
           JOIN tool_invocations ON tool_invocations.id = change_entries.tool_invocation
           JOIN decisions ON decisions.id = change_entries.decision AND decisions.id = tool_invocations.decision_id
          WHERE decisions.superseded_at IS NULL ORDER BY tool_invocations.sequence, change_entries.sequence`,
      ),
    );
  }

  /** How often a new prompt was given to a new process of the agent. */
  async turns(): Promise<number> {
    const rows = await this.reading((reader) =>
      reader.all("SELECT key FROM steps WHERE key LIKE 'once:%acp-turn-%' AND superseded_at IS NULL"),
    );
    return rows.length;
  }

  /** Dollars, as they are on record. */
  async spent(): Promise<number> {
    const rows = await this.reading((reader) => reader.all<{ cost: number | null }>("SELECT cost FROM model_calls"));
    return rows.reduce((sum, { cost }) => sum + (cost ?? 0), 0) / 1_000_000;
  }

  async reading<T>(query: (reader: Reader) => Promise<T>): Promise<T> {
    await using store = await openStore(`sqlite:${join(this.dataDir, "cleveragents.db")}`);
    return await store.read(query);
  }

  /** Whether nothing of ours and of the agent runs any more. */
  isQuiet(): Promise<boolean> {
    return isQuietAt(this.directory);
  }

  /** Ends everything of ours and of the agent at once. */
  kill(): void {
    endAllAt(this.directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.isQuiet();
    await this.#server?.[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10 });
  }
}

function saidOf(errors: string, output: string): string {
  return (errors.trim() === "" ? output : errors).trim().replaceAll(/\s+/g, " ").slice(0, 400);
}
