/** Other coding agents: how each is installed, started and resumed, and what its tools are called. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { patchOf, type Command, type Contestant, type Place } from "./agent-contestants.ts";
import type { Speech, ToolCall } from "./agent-model.ts";
import type { Action } from "./agent-tasks.ts";

/** The words of a user who finds an agent stopped in the middle. */
const GO_ON = "You were interrupted. Continue.";
const NOT_CARRIED_OUT = /^(?:.*\b(?:aborted|interrupted|verification failed)\b|error|could not|no result|you must)/i;

/** A package of another agent, and how it is made a contestant of once it is installed. */
export interface Peer {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  readonly contestant: (installed: string) => Contestant;
}

const MODEL = "claude-sonnet-4-5";
const LIMITS = { context: 200_000, output: 8_192 } as const;

export const PEERS: readonly Peer[] = [
  {
    name: "opencode",
    // Its main package fetches this one by a script; it holds the program.
    package: `opencode-${process.platform}-${process.arch}`,
    version: "1.18.33",
    contestant: opencode,
  },
  { name: "codex", package: "@openai/codex", version: "0.166.0", contestant: codex },
  { name: "pi", package: "@earendil-works/pi-coding-agent", version: "0.87.1", contestant: pi },
];

function opencode(installed: string): Contestant {
  const program = join(installed, "node_modules", `opencode-${process.platform}-${process.arch}`, "bin", "opencode");
  const env = ({ url }: Place): Command["env"] => ({
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      model: `anthropic/${MODEL}`,
      small_model: `anthropic/${MODEL}`,
      enabled_providers: ["anthropic"],
      autoupdate: false,
      share: "disabled",
      provider: {
        anthropic: {
          npm: "@ai-sdk/anthropic",
          options: { baseURL: `${url}/v1`, apiKey: "a-key" },
          models: { [MODEL]: { tool_call: true, limit: LIMITS } },
        },
      },
    }),
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_PURE: "1",
  });
  const callFor = (action: Action, { repository }: Place): ToolCall => {
    const absolute = (path: string): string => join(repository, path);
    switch (action.does) {
      case "read":
        return { name: "read", input: { filePath: absolute(action.path) } };
      case "search":
        return { name: "grep", input: { pattern: action.pattern } };
      case "list":
        return { name: "read", input: { filePath: absolute(action.path) } };
      case "edit":
        return {
          name: "edit",
          input: { filePath: absolute(action.path), oldString: action.old, newString: action.new },
        };
      case "run":
        return { name: "bash", input: { command: action.command, description: "Runs a command" } };
    }
  };
  return {
    name: "opencode",
    version: versionOf(installed, `opencode-${process.platform}-${process.arch}`),
    wire: "anthropic",
    prepare: async () => undefined,
    start: (place, request) => ({ words: [program, "run", "--auto", request], env: env(place) }),
    resume: (place) => [{ words: [program, "run", "--auto", "--continue", GO_ON], env: env(place) }],
    speech: (place) => speechOf((action) => callFor(action, place)),
  };
}

function codex(installed: string): Contestant {
  const program = join(installed, "node_modules", "@openai", "codex", "bin", "codex.js");
  const options = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
  const env = ({ home }: Place): Command["env"] => ({ CODEX_HOME: join(home, ".codex"), HOUSE_KEY: "a-key" });
  const callFor = (action: Action): ToolCall => {
    const exec = (cmd: string): ToolCall => ({ name: "exec_command", input: { cmd, yield_time_ms: 30_000 } });
    switch (action.does) {
      case "read":
        return exec(`cat ${action.path}`);
      case "search":
        return exec(searchCommand(action));
      case "list":
        return exec(`ls ${action.path}`);
      case "edit":
        return { name: "apply_patch", input: { freeform: patchOf(action) } };
      case "run":
        return exec(action.command);
    }
  };
  return {
    name: "codex",
    version: versionOf(installed, "@openai/codex"),
    wire: "responses",
    prepare: async ({ home, url }) => {
      mkdirSync(join(home, ".codex"), { recursive: true });
      const provider = `name = "house"\nbase_url = "${url}/v1"\nenv_key = "HOUSE_KEY"\nwire_api = "responses"\n`;
      // The leanest of the models that this version knows; an unknown one has no apply_patch.
      const chosen = `model = "gpt-5.5"\nmodel_provider = "house"\ncheck_for_update_on_startup = false\n`;
      writeFileSync(join(home, ".codex", "config.toml"), `${chosen}\n[model_providers.house]\n${provider}`);
    },
    start: (place, request) => ({ words: [process.execPath, program, "exec", ...options, request], env: env(place) }),
    resume: (place) => [
      { words: [process.execPath, program, "exec", "resume", "--last", ...options, GO_ON], env: env(place) },
    ],
    speech: () => speechOf(callFor),
  };
}

function pi(installed: string): Contestant {
  const program = join(installed, "node_modules", ".bin", "pi");
  const env = (): Command["env"] => ({ PI_OFFLINE: "1" });
  const options = ["-p", "--provider", "house", "--model", MODEL];
  const callFor = (action: Action): ToolCall => {
    const bash = (command: string): ToolCall => ({ name: "bash", input: { command } });
    switch (action.does) {
      case "read":
        return { name: "read", input: { path: action.path } };
      case "search":
        return bash(searchCommand(action));
      case "list":
        return bash(`ls ${action.path}`);
      case "edit":
        return {
          name: "edit",
          input: { path: action.path, edits: [{ oldText: action.old, newText: action.new }] },
        };
      case "run":
        return bash(action.command);
    }
  };
  return {
    name: "pi",
    version: versionOf(installed, "@earendil-works/pi-coding-agent"),
    wire: "anthropic",
    prepare: async ({ home, url }) => {
      const model = { id: MODEL, input: ["text"], contextWindow: LIMITS.context, maxTokens: LIMITS.output };
      const house = { baseUrl: url, api: "anthropic-messages", apiKey: "a-key", models: [model] };
      mkdirSync(join(home, ".pi", "agent"), { recursive: true });
      writeFileSync(join(home, ".pi", "agent", "models.json"), JSON.stringify({ providers: { house } }));
    },
    start: (_place, request) => ({ words: [process.execPath, program, ...options, request], env: env() }),
    resume: () => [{ words: [process.execPath, program, ...options, "--continue", GO_ON], env: env() }],
    speech: () => speechOf(callFor),
  };
}

/** An agent without a tool to search has a shell. */
function searchCommand({ pattern, in: place }: Extract<Action, { does: "search" }>): string {
  return `grep -rnE '${pattern}' --exclude-dir=.git ${place}`;
}

function speechOf(callFor: (action: Action) => ToolCall): Speech {
  return { callFor, isFailure: (result) => NOT_CARRIED_OUT.test(result) };
}

function versionOf(installed: string, name: string): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(installed, "node_modules", name, "package.json"), "utf8"),
  );
  return version;
}

/** Installs the peer below the directory, without its scripts; throws when that does not work here. */
export function installed(peer: Peer, directory: string): Contestant {
  const place = join(directory, peer.name);
  if (!existsSync(join(place, "node_modules", ".package-lock.json"))) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "package.json"), "{}\n");
    const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", `${peer.package}@${peer.version}`];
    const npm = process.env["npm_execpath"]?.endsWith("npm-cli.js") ? process.env["npm_execpath"] : undefined;
    const [file, before] = npm === undefined ? ["npm", []] : [process.execPath, [npm]];
    const { status, stderr } = spawnSync(file, [...before, ...words], { cwd: place, encoding: "utf8" });
    if (status !== 0)
      throw new Error(`npm install ${peer.package}@${peer.version}: ${stderr.trim().split("\n").at(-1)}`);
  }
  return peer.contestant(place);
}
