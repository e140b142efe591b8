/** Questions of an agent for permission. Each is answered for once: what is allowed always is ours to remember. */
import * as z from "zod";
import type { RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { AgentListener, AgentPermission } from "./agent-port.ts";
import { parseJson, type JsonObject } from "../../domain/values/json.ts";

const Option = z.object({ optionId: z.string(), kind: z.string() });
const ToolCall = z.object({
  toolCallId: z.string(),
  title: z.string().nullish(),
  kind: z.string().nullish(),
  name: z.string().nullish(),
  rawInput: z.unknown().optional(),
  locations: z
    .array(z.object({ path: z.string() }))
    .nullish()
    .catch(undefined),
});
type ToolCall = z.output<typeof ToolCall>;
/** Version 2 of the protocol has a title, and perhaps a subject: a call of a tool, or a command. */
const Subject = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("tool_call"), toolCall: ToolCall }),
    z.object({ type: z.literal("command"), command: z.string(), toolCallId: z.string().nullish() }),
  ])
  .nullish()
  .catch(undefined);
const Request = z.object({
  toolCall: ToolCall.optional(),
  title: z.string().optional(),
  subject: Subject,
  options: z.array(Option),
});

/** Tools of ours that stand for the kinds of an agent's tools, in lists of guards. */
const TOOL_OF_KIND: Readonly<Record<string, string>> = {
  edit: "write_file",
  delete: "write_file",
  move: "write_file",
  execute: "shell_execute",
  fetch: "web_fetch",
  read: "read_file",
  search: "read_file",
};
const LIMITS = { depth: 16, bytes: 256 * 1024 };
const CANCELLED: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };

export async function answerPermission(
  params: unknown,
  listener: AgentListener,
  signal: AbortSignal,
): Promise<RequestPermissionResponse> {
  const read = Request.safeParse(params);
  if (!read.success || signal.aborted) return CANCELLED;
  const { options } = read.data;
  const call = callOf(read.data);
  if (call === undefined) return CANCELLED;
  const stopped = new Promise<"cancel">((resolve) =>
    signal.addEventListener("abort", () => resolve("cancel"), { once: true }),
  );
  const answer = await Promise.race([listener.permission(permissionOf(call)), stopped]);
  if (answer === "cancel") return CANCELLED;
  const wanted = answer === "allow" ? "allow_once" : "reject_once";
  const option = options.find(({ kind }) => kind === wanted);
  return option === undefined ? CANCELLED : { outcome: { outcome: "selected", optionId: option.optionId } };
}

/** The call that permission is asked for; undefined for a question about nothing. */
function callOf({ toolCall, title, subject }: z.output<typeof Request>): ToolCall | undefined {
  if (toolCall !== undefined) return toolCall;
  if (title === undefined) return undefined;
  switch (subject?.type) {
    case "tool_call":
      return { ...subject.toolCall, title: subject.toolCall.title ?? title };
    case "command":
      return {
        toolCallId: subject.toolCallId ?? title,
        title,
        kind: "execute",
        rawInput: { command: subject.command },
      };
    case undefined:
      return { toolCallId: title, title };
  }
}

function permissionOf({ kind, name, title, rawInput, locations, toolCallId }: ToolCall): AgentPermission {
  const own = name ?? title ?? toolCallId;
  const given = parseJson(rawInput ?? {}, "", LIMITS, []);
  const params: JsonObject =
    typeof given === "object" && given !== null && !Array.isArray(given) ? (given as JsonObject) : {};
  const paths = (locations ?? []).map(({ path }) => path);
  return {
    id: toolCallId,
    tool: TOOL_OF_KIND[kind ?? "other"] ?? own,
    title: title ?? own,
    params: paths.length === 0 || "locations" in params ? params : { ...params, locations: paths },
  };
}
