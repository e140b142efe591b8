/**
 * Agents as programs that run once for each prompt, without the protocol: actors with `run`. The same texts stand in
 * docs/agents.md.
 */
import type { AgentName } from "../src/domain/names/agent-names.ts";

export interface RunActor {
  /** The program, which is looked for beside that of the agent's recipe too. */
  readonly run: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly endpoint: string;
}

const configured = (setting: string): readonly string[] => ["-c", setting];

export const RUN_ACTORS: Readonly<Record<AgentName, RunActor | { readonly skipped: string }>> = {
  claude: {
    run: [
      "claude",
      "-p",
      "{prompt}",
      "--permission-mode",
      "bypassPermissions",
      "--disallowed-tools",
      "Agent WebSearch",
    ],
    env: {
      ANTHROPIC_BASE_URL: "{gateway}",
      ANTHROPIC_API_KEY: "{token}",
      ANTHROPIC_MODEL: "{model}",
      ANTHROPIC_SMALL_FAST_MODEL: "{model}",
      CLAUDE_CONFIG_DIR: "{home}/.claude",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      IS_SANDBOX: "1",
    },
    endpoint: "anthropic",
  },
  codex: {
    run: [
      "codex",
      "exec",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      "--model",
      "{model}",
      ...configured("model_provider=house"),
      ...configured("model_providers.house.name=house"),
      ...configured("model_providers.house.base_url={gateway}/v1"),
      ...configured("model_providers.house.env_key=TOKEN"),
      ...configured("model_providers.house.wire_api=responses"),
      ...configured("features.multi_agent=false"),
      "{prompt}",
    ],
    env: { TOKEN: "{token}" },
    endpoint: "openai-responses",
  },
  gemini: { skipped: "it is told its kind of login only by a file in its home" },
  qwen: {
    run: ["qwen", "--auth-type", "openai", "--model", "{model}", "--yolo", "--prompt", "{prompt}"],
    env: { OPENAI_BASE_URL: "{gateway}/v1", OPENAI_API_KEY: "{token}", OPENAI_MODEL: "{model}" },
    endpoint: "openai-chat",
  },
  copilot: {
    run: ["copilot", "--allow-all-tools", "--disable-builtin-mcps", "--no-auto-update", "--prompt", "{prompt}"],
    env: {
      COPILOT_PROVIDER_BASE_URL: "{gateway}/v1",
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_API_KEY: "{token}",
      COPILOT_MODEL: "{model}",
      COPILOT_OFFLINE: "true",
    },
    endpoint: "openai-chat",
  },
  opencode: {
    run: ["opencode", "run", "{prompt}"],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        model: "house/{model}",
        small_model: "house/{model}",
        enabled_providers: ["house"],
        autoupdate: false,
        provider: {
          house: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: "{gateway}/v1", apiKey: "{token}" },
            models: { "{model}": { tool_call: true, limit: { context: 200_000, output: 8_192 } } },
          },
        },
        permission: { edit: "allow", bash: "allow", external_directory: "allow" },
      }),
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    },
    endpoint: "openai-chat",
  },
  pi: { skipped: "it is told its endpoint only by a file in its home" },
};
