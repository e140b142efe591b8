/**
 * The recipes of the agents that are known by name. All values were tried with the versions named; the conformance
 * table (`npm run conformance`) tells when a new version of an agent breaks one.
 */
import type { AgentName } from "../../../domain/names/agent-names.ts";
import type { Recipe } from "./recipe.ts";

/** Tokens. The gateway lowers what is asked for; agents only plan with these. */
const WINDOW = 200_000;
const LONGEST_ANSWER = 8_192;

const claude: Recipe = {
  agent: "claude",
  programs: [
    { program: "claude-agent-acp", words: [] },
    { program: "claude-code-acp", words: [] },
  ],
  packages: [{ name: "@agentclientprotocol/claude-agent-acp", version: "0.99.1" }],
  base: {
    environment: {
      ANTHROPIC_BASE_URL: "{gateway}",
      ANTHROPIC_API_KEY: "{token}",
      ANTHROPIC_MODEL: "{model}",
      ANTHROPIC_SMALL_FAST_MODEL: "{model}",
      ANTHROPIC_DEFAULT_HAIKU_MODEL: "{model}",
      ANTHROPIC_DEFAULT_SONNET_MODEL: "{model}",
      ANTHROPIC_DEFAULT_OPUS_MODEL: "{model}",
      ANTHROPIC_CUSTOM_MODEL_OPTION: "{model}",
      CLAUDE_CONFIG_DIR: "{home}/.claude",
      CLAUDE_AGENT_ACP_PROTOCOL: "auto",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      // Root may only trust itself where a sandbox is known to be around it.
      IS_SANDBOX: "1",
    },
    files: { ".claude/settings.json": { permissions: { deny: ["WebSearch", "WebFetch"] } } },
  },
  asks: { mode: "default" },
  trusts: { mode: "bypassPermissions" },
  alone: { files: { ".claude/settings.json": { permissions: { deny: ["WebSearch", "WebFetch", "Agent", "Task"] } } } },
};

const codex: Recipe = {
  agent: "codex",
  programs: [{ program: "codex-acp", words: [] }],
  packages: [{ name: "@agentclientprotocol/codex-acp", version: "2.6.0" }],
  base: {
    environment: { CODEX_HOME: "{home}/.codex", OPENAI_API_KEY: "{token}", NO_BROWSER: "1", MODEL_PROVIDER: "house" },
    files: {
      ".codex/config.toml": `model = "{model}"
model_provider = "house"
web_search = "disabled"
check_for_update_on_startup = false

[model_providers.house]
name = "house"
base_url = "{gateway}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
supports_websockets = false

[analytics]
enabled = false

[features]
apps = false
enable_request_compression = false
plugins = false
remote_plugin = false
unbounded_connection_retries = false
`,
    },
  },
  neverAsks: true,
  // Its own sandbox cannot start in ours, and then every command fails.
  asks: { environment: { INITIAL_AGENT_MODE: "agent-full-access" }, mode: "agent-full-access" },
  trusts: { environment: { INITIAL_AGENT_MODE: "agent-full-access" }, mode: "agent-full-access" },
  alone: { environment: { CODEX_CONFIG: { features: { multi_agent: false } } } },
};

const opencode: Recipe = {
  agent: "opencode",
  programs: [{ program: "opencode", words: ["acp"] }],
  packages: [{ name: "opencode-ai", version: "1.18.33" }],
  base: {
    environment: {
      OPENCODE_CONFIG_CONTENT: {
        model: "house/{model}",
        small_model: "house/{model}",
        enabled_providers: ["house"],
        autoupdate: false,
        share: "disabled",
        provider: {
          house: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: "{gateway}/v1", apiKey: "{token}" },
            models: { "{model}": { tool_call: true, limit: { context: WINDOW, output: LONGEST_ANSWER } } },
          },
        },
        permission: { webfetch: "deny", websearch: "deny" },
      },
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_PROJECT_CONFIG: "1",
      OPENCODE_PURE: "1",
    },
  },
  asks: {
    environment: {
      OPENCODE_CONFIG_CONTENT: { permission: { edit: "ask", bash: "ask", external_directory: "ask" } },
    },
  },
  trusts: {
    environment: {
      OPENCODE_CONFIG_CONTENT: { permission: { edit: "allow", bash: "allow", external_directory: "allow" } },
    },
  },
  alone: { environment: { OPENCODE_CONFIG_CONTENT: { permission: { task: "deny" }, tools: { task: false } } } },
};

const gemini: Recipe = {
  agent: "gemini",
  programs: [{ program: "gemini", words: ["--acp"] }],
  packages: [{ name: "@google/gemini-cli", version: "0.61.0" }],
  base: {
    // A model that is named asks no router first.
    words: ["--model", "{model}"],
    environment: {
      GOOGLE_GEMINI_BASE_URL: "{gateway}",
      GEMINI_API_KEY: "{token}",
      GEMINI_MODEL: "{model}",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_CLI_NO_RELAUNCH: "true",
    },
    files: {
      ".gemini/settings.json": {
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        tools: { exclude: ["google_web_search", "web_fetch"] },
      },
    },
  },
  asks: { mode: "default" },
  trusts: { mode: "yolo" },
  alone: {
    files: {
      ".gemini/settings.json": {
        experimental: { enableAgents: false },
        tools: { exclude: ["google_web_search", "web_fetch", "invoke_agent"] },
      },
    },
  },
};

const qwen: Recipe = {
  agent: "qwen",
  programs: [{ program: "qwen", words: ["--acp"] }],
  packages: [{ name: "@qwen-code/qwen-code", version: "0.24.4" }],
  base: {
    words: ["--auth-type", "openai", "--model", "{model}"],
    environment: { OPENAI_BASE_URL: "{gateway}/v1", OPENAI_API_KEY: "{token}", OPENAI_MODEL: "{model}" },
    files: {
      ".qwen/settings.json": {
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        // Otherwise it asks its model once more after each turn, with tools.
        memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
        tools: { exclude: ["web_fetch", "web_search"] },
      },
    },
  },
  asks: { mode: "default" },
  trusts: { mode: "yolo" },
  alone: { files: { ".qwen/settings.json": { tools: { exclude: ["web_fetch", "web_search", "agent", "task"] } } } },
};

const pi: Recipe = {
  agent: "pi",
  programs: [{ program: "pi-acp", words: [] }],
  needs: { program: "pi", variable: "PI_ACP_PI_COMMAND" },
  packages: [
    { name: "pi-acp", version: "0.0.34" },
    { name: "@earendil-works/pi-coding-agent", version: "0.87.1" },
  ],
  base: {
    environment: { PI_OFFLINE: "1", PI_CODING_AGENT_DIR: "{home}/.pi/agent" },
    files: {
      ".pi/agent/models.json": {
        providers: {
          house: {
            baseUrl: "{gateway}/v1",
            api: "openai-completions",
            apiKey: "{token}",
            models: [
              {
                id: "{model}",
                name: "{model}",
                reasoning: false,
                input: ["text"],
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
                contextWindow: WINDOW,
                maxTokens: LONGEST_ANSWER,
              },
            ],
          },
        },
      },
      ".pi/agent/settings.json": { defaultProvider: "house", defaultModel: "{model}", quietStartup: true },
    },
  },
  neverAsks: true,
  asks: {},
  trusts: {},
  alone: {},
};

const copilot: Recipe = {
  agent: "copilot",
  programs: [{ program: "copilot", words: ["--acp"] }],
  packages: [{ name: "@github/copilot", version: "1.0.102" }],
  base: {
    words: ["--disable-builtin-mcps", "--no-auto-update"],
    environment: {
      COPILOT_PROVIDER_BASE_URL: "{gateway}/v1",
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_API_KEY: "{token}",
      COPILOT_MODEL: "{model}",
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_HOME: "{home}/.copilot",
    },
  },
  asks: {},
  trusts: { words: ["--allow-all-tools"] },
  alone: { words: ["--excluded-tools=task"] },
};

export const RECIPES: Readonly<Record<AgentName, Recipe>> = { claude, codex, opencode, gemini, qwen, pi, copilot };
