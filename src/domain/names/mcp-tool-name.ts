/**
 * The names under which the tools of servers are offered: `mcp__server__tool`, as other programs write them, with at
 * most 64 letters, digits and "_". A name that would be longer, or that another tool has already, ends in a hash.
 */
import { hash } from "node:crypto";

export type McpToolName = `mcp_${string}`;

const LIMIT = 64;
const HASH = 8;

export function isMcpToolName(text: string): text is McpToolName {
  return /^mcp_[A-Za-z0-9_-]{1,60}(?:__\*)?$/.test(text);
}

/** The name of a tool, different from those that are taken, which it is added to. */
export function mcpToolName(server: string, tool: string, taken: Set<string>): McpToolName {
  const plain: McpToolName = `mcp__${word(server)}__${word(tool)}`;
  const name = plain.length <= LIMIT && !taken.has(plain.toLowerCase()) ? plain : hashed(plain, server, tool);
  taken.add(name.toLowerCase());
  return name;
}

/** `mcp__server` and `mcp__server__*` stand for all tools of a server. */
export function isMcpServerName(given: string): boolean {
  return /^mcp__[a-z0-9]+(?:[_-][a-z0-9]+)*(?:__\*)?$/i.test(given);
}

/** Whether an actor that names `given` has the tool of this name. */
export function namesMcpTool(given: string, name: string): boolean {
  const own = name.toLowerCase();
  const plain = word(given.replace(/__\*$/, "")).toLowerCase();
  return own === plain || (isMcpServerName(given) && own.startsWith(`${plain}__`));
}

function hashed(plain: string, server: string, tool: string): McpToolName {
  const end = hash("sha256", `${server}\0${tool}`, "hex").slice(0, HASH);
  return `mcp_${plain.slice("mcp_".length, LIMIT - HASH - 1)}_${end}`;
}

function word(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]/g, "_");
}
