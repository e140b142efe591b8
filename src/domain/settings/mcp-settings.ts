import type { Setting } from "./settings.ts";

const TOOL_TOKENS = "16000";

/** How much of a model's window the tools of MCP servers may take. */
export const MCP_SETTINGS: readonly Setting[] = [
  {
    key: "mcp.tool-tokens",
    env: "CLEVERAGENTS_MCP_TOOL_TOKENS",
    default: TOOL_TOKENS,
    description: "Tokens that the descriptions of all MCP tools of a plan may take together",
    perProject: false,
    problem: (value) => (/^\d{1,7}$/.test(value) ? undefined : "must be a whole number of tokens"),
  },
];

export function toolTokensOf(value: string | undefined): number {
  return Number(value ?? TOOL_TOKENS);
}
