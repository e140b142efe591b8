/** A repository, a strict model server and an outside agent that carries out plans there, through the package. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { strictServer, strictSettings, type StrictServer } from "../../actors/testing/strict-server.ts";
import type { WireAnswer, WireRequest, WireScript } from "../../actors/testing/wires/wire.ts";
import type { AgentDialect } from "../../domain/actor/acp-actor.ts";
import type { RunEvent } from "../../domain/run-event.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import type { Reader } from "../../store/port.ts";
import { openStore } from "../../store/sqlite/open-store.ts";
import { git, makeRepository } from "../../testing/git-repository.ts";
import { openCleverAgents, type CleverAgents } from "../open.ts";
import type { InputOf } from "../table/operation-table.ts";
import { PRICE, REAL_KEYS } from "./gateway-world.ts";
import type { Surroundings } from "./plans-under-fire.ts";
import { SMALL_AGENT } from "./small-agent.ts";

export const AGENT_PROVIDERS = {
  anthropic: "anthropic",
  "openai-chat": "openai",
  "openai-responses": "openai",
  gemini: "google",
} as const satisfies Record<AgentDialect, string>;
const TINY_AGENT = join(import.meta.dirname, "../../actors/outside/testing");
const SPOKEN = {
  anthropic: "anthropic",
  "openai-chat": "chat",
  "openai-responses": "responses",
  gemini: "gemini",
} as const;

export type Turns = readonly WireAnswer[];

/** The answer by how many answers the conversation has: killed and given again, it goes the same way. */
export function byTurn(...turns: Turns): WireScript {
  return (request) => turns[answersIn(request)] ?? { text: "Done." };
}

export function answersIn({ messages }: WireRequest): number {
  return messages.filter(({ role }) => role === "assistant").length;
}

/** The prompt of the turn; "" for no request. */
export function promptOf(request: WireRequest | undefined): string {
  return request?.messages.find(({ role }) => role === "user")?.text ?? "";
}

/** The step that the prompt of an outside agent is about; "" for our own loop. */
export function stepOf(request: WireRequest): string {
  return /# Your step\n\n"([^"]+)"/.exec(promptOf(request))?.[1] ?? "";
}

export const write = (path: string, text: string): { name: string; input: { path: string; text: string } } => ({
  name: "write",
  input: { path, text },
});
export const bash = (command: string): { name: string; input: { command: string } } => ({
  name: "bash",
  input: { command },
});

/** The tools of the tiny agent. */
export const put = (path: string, content: string): { name: string; input: { path: string; content: string } } => ({
  name: "write",
  input: { path, content },
});
export const tiny = (name: string, input: JsonObject = {}): { name: string; input: JsonObject } => ({ name, input });

export interface AgentOptions {
  readonly name?: string;
  /** `acp`: the tiny agent, by the Agent Client Protocol; otherwise the small one, which runs once for each prompt. */
  readonly speaks?: "acp" | "run";
  /** Another program in the place of the tiny agent, where it lies. */
  readonly script?: string;
  /** Of the tiny agent. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly dialect?: AgentDialect;
  readonly habits?: string;
  readonly more?: string;
}

export interface Credit {
  readonly path: string;
  readonly operation: string;
  readonly tool: string;
  readonly outcome: string;
  readonly chosen: string;
  readonly type: string;
}

/** A model's endpoint. */
type ModelServer = AsyncDisposable & { readonly url: string };

export class OutsideWorld<S extends ModelServer = StrictServer> implements AsyncDisposable {
  readonly directory: string = mkdtempSync(join(tmpdir(), "cleveragents-outside-"));
  readonly repository: string = makeRepository(join(this.directory, "shop"));
  readonly events: RunEvent[] = [];
  /** The questions to the strict model, in their order. */
  readonly requests: readonly WireRequest[];
  readonly server: S;
  readonly #variables: Readonly<Record<string, string | undefined>>;
  settings: Readonly<Record<string, string>> = {};
  #agents: CleverAgents | undefined;

  private constructor(
    server: S,
    variables: Readonly<Record<string, string | undefined>>,
    requests: readonly WireRequest[],
  ) {
    this.server = server;
    this.#variables = variables;
    this.requests = requests;
    this.commit({ "a.txt": "one\ntwo\n" });
  }

  static async open(script: WireScript): Promise<OutsideWorld> {
    const requests: WireRequest[] = [];
    const noting: WireScript = (request) => {
      requests.push(request);
      return script(request);
    };
    return OutsideWorld.before(await strictServer({ script: noting }), process.env, requests);
  }

  /** With another model server, and variables such as the PATH to installed agents. */
  static before<S extends ModelServer>(
    server: S,
    { PATH, HOME }: Readonly<Record<string, string | undefined>>,
    requests: readonly WireRequest[] = [],
  ): OutsideWorld<S> {
    return new OutsideWorld(server, { PATH, HOME }, requests);
  }

  commit(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.repository, path)), { recursive: true });
      writeFileSync(join(this.repository, path), text);
    }
    git(this.repository, "add", "--all");
    git(this.repository, "commit", "-qm", "files");
  }

  get dataDir(): string {
    return join(this.directory, "data");
  }

  /** A new application, as a new process would have it. */
  async restart(): Promise<CleverAgents> {
    await this.#agents?.[Symbol.asyncDispose]();
    this.#agents = await openCleverAgents({
      dataDir: this.dataDir,
      directory: this.repository,
      environment: { PATH: this.#variables["PATH"], ...REAL_KEYS },
      settings: { ...this.providerSettings, ...this.settings },
    });
    return this.#agents;
  }

  get providerSettings(): Readonly<Record<string, string>> {
    const prices = ["anthropic", "openai", "google"].map((name) => [
      `provider.${name}.prices`,
      `*=${PRICE.input}/${PRICE.output}`,
    ]);
    return { ...strictSettings(this.server.url), ...Object.fromEntries(prices) };
  }

  get keys(): Readonly<Record<string, string>> {
    return REAL_KEYS;
  }

  /** So that commands as processes of their own have the same settings. */
  async configure(more: Readonly<Record<string, string>> = {}): Promise<void> {
    const agents = await this.agents();
    for (const [key, value] of Object.entries({ ...this.providerSettings, ...more }))
      await agents.run("config.set", { key, value });
  }

  async agents(): Promise<CleverAgents> {
    return this.#agents ?? this.restart();
  }

  /** Where an agent works. */
  sandbox(plan: string): string {
    return join(this.dataDir, "sandboxes", plan, "1", "shop", "tree");
  }

  get surroundings(): Surroundings {
    return {
      dataDir: this.dataDir,
      repository: this.repository,
      environment: { ...this.#variables, ...this.keys },
      agents: () => this.agents(),
      reading: (query) => this.reading(query),
    };
  }

  /** Where the programs of the agent with this name are. */
  programs(name: string): string {
    return join(this.directory, "programs", name);
  }

  /** The YAML of an actor that is the small agent or the tiny one. */
  actor(options: AgentOptions = {}): string {
    const { name = "helper", dialect = "anthropic", more = "", speaks = "run" } = options;
    return [
      `name: local/${name}`,
      "type: acp",
      "description: A small agent",
      ...(speaks === "run" ? this.#smallAgent(options) : this.#tinyAgent(options)),
      `endpoint: ${dialect}`,
      `model: ${AGENT_PROVIDERS[dialect]}/a-model`,
      more,
    ].join("\n");
  }

  #smallAgent({ name = "helper", dialect = "anthropic", habits = "" }: AgentOptions): string[] {
    const program = join(this.programs(name), "small-agent.mjs");
    mkdirSync(dirname(program), { recursive: true });
    writeFileSync(program, SMALL_AGENT);
    const env = { GATEWAY: "{gateway}", TOKEN: "{token}", MODEL: "{model}", DIALECT: SPOKEN[dialect], HABITS: habits };
    return [`run: ${JSON.stringify([process.execPath, program, "{prompt}"])}`, `env: ${JSON.stringify(env)}`];
  }

  /** As it is installed: a program with files beside it that it needs. */
  #tinyAgent({ name = "helper", dialect = "anthropic", variables = {}, script }: AgentOptions): string[] {
    const at = this.programs(name);
    cpSync(TINY_AGENT, at, { recursive: true });
    writeFileSync(join(at, "package.json"), `{ "name": "tiny-agent", "type": "module" }\n`);
    const fixed = { TINY_URL: "{gateway}", TINY_TOKEN: "{token}", TINY_MODEL: "{model}", TINY_DIALECT: dialect };
    return [
      `command: ${JSON.stringify([process.execPath, script ?? join(at, "tiny-agent.ts")])}`,
      `env: ${JSON.stringify({ ...fixed, ...variables })}`,
    ];
  }

  async add(options: AgentOptions = {}): Promise<string> {
    const agents = await this.agents();
    await agents.run("actor.add", { definition: { text: this.actor(options) } }, { answers: "program" });
    return `local/${options.name ?? "helper"}`;
  }

  async run(request: string, more: Partial<InputOf<"run">> = {}, signal?: AbortSignal) {
    const agents = await this.agents();
    const wish = { request, directory: this.repository, automationProfile: "trusted", actor: "local/helper", ...more };
    const stop = signal === undefined ? {} : { signal };
    return agents.run("run", wish, { answers: "none", tell: (event) => this.events.push(event), ...stop });
  }

  /** Everything that is recorded of a plan's changes, in their order: which call and which answer made them. */
  async credits(): Promise<Credit[]> {
    return this.reading((reader) =>
      reader.all<Credit>(
        `SELECT change_entries.path, change_entries.operation, tool_invocations.tool, tool_invocations.outcome,
                decisions.chosen, decisions.type
           FROM change_entries
           JOIN tool_invocations ON tool_invocations.id = change_entries.tool_invocation
           JOIN decisions ON decisions.id = change_entries.decision AND decisions.id = tool_invocations.decision_id
          WHERE decisions.superseded_at IS NULL ORDER BY tool_invocations.sequence, change_entries.sequence`,
      ),
    );
  }

  /** All of the user's repository besides the pinning refs of plans. */
  refs(): string[] {
    const refs = git(this.repository, "for-each-ref", "--format=%(refname)").split("\n");
    return refs.map((ref) => ref.trim()).filter((ref) => ref !== "" && !ref.startsWith("refs/cleveragents/"));
  }

  /** The most that one question so far could cost, in microdollars. */
  async bound(): Promise<number> {
    const rows = await this.reading((reader) => reader.all<{ bound: number }>("SELECT bound FROM reservations"));
    return Math.max(...rows.map(({ bound }) => bound));
  }

  /** A look into the store from outside. */
  async reading<T>(query: (reader: Reader) => Promise<T>): Promise<T> {
    const store = await openStore(`sqlite:${join(this.dataDir, "cleveragents.db")}`);
    try {
      return await store.read(query);
    } finally {
      await store[Symbol.asyncDispose]();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agents?.[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
