/**
 * Tools that run at the provider (searches, fetches, code, other servers) go around a confinement without a network,
 * and cost more than tokens. They are taken out of a request unless the user allows them; tools that the agent runs
 * itself stay. Known ones stay, all others go: a kind that is new tomorrow is taken out too.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import type { Dialect } from "./dialects.ts";
import { listAt, objectAt, textAt, without } from "./request-values.ts";

const OWN_TOOLS: Readonly<Record<"anthropic" | "chat" | "responses", RegExp>> = {
  // A search among the tools of the request itself leads nowhere else.
  anthropic: /^(?:custom|bash_|text_editor_|computer_|memory_|tool_search_tool_)/,
  chat: /^(?:function|custom)$/,
  responses: /^(?:function|custom|local_shell|apply_patch|computer|computer_use_preview|tool_search|namespace)$/,
};

const GEMINI_OWN = ["functionDeclarations", "function_declarations", "computerUse", "computer_use"];

/** Options besides tools that let the provider look elsewhere, or run something. */
const ELSEWHERE: Readonly<Record<Dialect, readonly string[]>> = {
  anthropic: ["mcp_servers", "container"],
  chat: ["web_search_options", "plugins"],
  responses: ["plugins"],
  gemini: [],
};

export function withoutProviderTools(dialect: Dialect, body: JsonObject): JsonObject {
  const plain = without(body, ELSEWHERE[dialect]);
  const tools = listAt(plain, "tools");
  if (tools === undefined) return plain;
  const kept = tools.flatMap((tool) => ownPart(dialect, tool));
  if (kept.length === tools.length && kept.every((tool, index) => tool === tools[index])) return plain;
  // A choice among tools that are gone is one that a provider refuses.
  const choices = ["tool_choice", "toolConfig", "tool_config"];
  if (kept.length === 0) return without(plain, ["tools", ...choices]);
  const left = { ...plain, tools: kept };
  return isChoiceLost(dialect, left, kept) ? without(left, choices) : left;
}

/** The tool, or what of it is left; nothing of one that runs at the provider. */
function ownPart(dialect: Dialect, tool: JsonValue): JsonValue[] {
  if (!isJsonObject(tool)) return [];
  if (dialect === "gemini") {
    const gone = Object.keys(tool).filter((key) => !GEMINI_OWN.includes(key));
    const left = without(tool, gone);
    return Object.keys(left).length === 0 ? [] : [left];
  }
  const type = textAt(tool, "type");
  if (type === undefined) return dialect === "anthropic" ? [tool] : [];
  if (dialect === "responses" && type === "shell") {
    const place = textAt(objectAt(tool, "environment") ?? {}, "type") ?? "local";
    return place === "local" ? [tool] : [];
  }
  return OWN_TOOLS[dialect].test(type) ? [tool] : [];
}

function isChoiceLost(dialect: Dialect, body: JsonObject, kept: readonly JsonValue[]): boolean {
  const choice = objectAt(body, "tool_choice");
  if (choice === undefined) return false;
  const name = nameOf(choice);
  if (name !== undefined) return !kept.some((tool) => isJsonObject(tool) && nameOf(tool) === name);
  const type = textAt(choice, "type") ?? "";
  return dialect === "responses" && !OWN_TOOLS.responses.test(type) && !/^(?:shell|allowed_tools)$/.test(type);
}

function nameOf(tool: JsonObject): string | undefined {
  return textAt(tool, "name") ?? textAt(objectAt(tool, "function") ?? {}, "name");
}
