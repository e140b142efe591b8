/** An actor that is an agent program of another maker. It asks its models through the gateway. */
import type { ContextView } from "../context/context-policy.ts";
import type { QualifiedName } from "../names/qualified-name.ts";
import type { ToolRef } from "../names/tool-names.ts";
import type { ActorOptions } from "./actor.ts";

export const AGENT_DIALECTS = ["anthropic", "openai-chat", "openai-responses", "gemini"] as const;
/** How a program asks its model. */
export type AgentDialect = (typeof AGENT_DIALECTS)[number];

export interface AcpActorDefinition {
  readonly name: QualifiedName;
  readonly type: "acp";
  readonly description: string;
  /** The known agent, or how an unknown one is started. */
  readonly program:
    | { readonly agent: string }
    | {
        readonly agent: undefined;
        /** `acp`: speaks the Agent Client Protocol on its standard streams; `run`: runs once for each prompt. */
        readonly speaks: "acp" | "run";
        /** `{gateway}`, `{token}`, `{model}`, `{home}` and, where it runs once, `{prompt}` are filled in. */
        readonly command: readonly string[];
        readonly environment: Readonly<Record<string, string>>;
        readonly endpoint: AgentDialect | "providers";
      };
  /** Provider and model of ours to which the gateway sends its questions; undefined: the usual one of its dialect. */
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly systemPrompt: string;
  readonly options: ActorOptions;
  /** The version of the Agent Client Protocol that is asked for first. */
  readonly protocol: 1 | 2;
  /** Session mode of the agent; undefined for the one of its recipe. */
  readonly mode: string | undefined;
  /** The mode in which it asks before it writes or runs anything, for plans with guards; its recipe's if known. */
  readonly askingMode: string | undefined;
  /** Tools of ours that it is offered; undefined for none. */
  readonly tools: readonly ToolRef[] | undefined;
  /** Skills of ours that it may read. */
  readonly skills?: readonly string[];
  readonly subAgents: boolean;
  readonly limits: { readonly rounds: number; readonly minutes: number };
  readonly contextView: ContextView | undefined;
  readonly unsafe: boolean;
}
