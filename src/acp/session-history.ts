/**
 * A session that is loaded again: everything said, decided and called, from the store, as the updates by which an
 * editor shows a conversation.
 */
import { isAbsolute, join } from "node:path";
import type { PlanEntryStatus, ToolCallStatus } from "@agentclientprotocol/sdk";
import type { OutputOf } from "../app/table/operation-table.ts";
import type { EditorClient, Update } from "./editor-client.ts";
import { kindOf } from "./run-updates.ts";
import { count } from "./editor-words.ts";

type Session = OutputOf<"session.show">;
type Turn = Session["turns"][number];
type Decision = NonNullable<Turn["decisions"]>[number];
type Call = Decision["calls"][number];

export function tellHistory(session: Session, client: Pick<EditorClient, "send">): void {
  for (const turn of session.turns) for (const update of turnUpdates(turn, session.directory)) client.send(update);
  client.send({ sessionUpdate: "session_info_update", title: session.title, updatedAt: session.toldAt });
}

/** In the order of time: the words of the person, those of the models, and the calls of tools. */
function turnUpdates(turn: Turn, directory: string): Update[] {
  const decisions = turn.decisions ?? [];
  const said = [...turn.exchanges.map(({ request: text, at }) => ({ text, at })), ...turn.remarks];
  const dated = [
    ...said.map(({ text, at }) => ({ at, updates: [message("user_message_chunk", text)] })),
    ...decisions.map((decision) => ({ at: decision.at, updates: decisionUpdates(turn, decision, directory) })),
  ];
  const entries = decisions.flatMap(({ step, chosen, state }) =>
    step === null
      ? []
      : [{ content: descriptionOf(chosen) ?? step, priority: "medium" as const, status: STEPS[state] ?? PENDING }],
  );
  return [
    ...dated.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).flatMap(({ updates }) => updates),
    ...(entries.length === 0 ? [] : [{ sessionUpdate: "plan" as const, entries }]),
    message("agent_message_chunk", `\n\n${endOf(turn)}\n\n`),
  ];
}

const PENDING: PlanEntryStatus = "pending";
const STEPS: Readonly<Record<string, PlanEntryStatus>> = { done: "completed", running: "in_progress" };

function decisionUpdates(turn: Turn, { decisionId, words, calls }: Decision, directory: string): Update[] {
  return [
    ...(words === null || words.trim() === "" ? [] : [message("agent_message_chunk", `${words}\n\n`)]),
    ...calls.map((call) => callUpdate(`${turn.planId}/${decisionId}/${call.callId}`, call, directory)),
  ];
}

const CALLS = { ok: "completed", failed: "failed", running: "in_progress" } as const satisfies Record<
  Call["outcome"],
  ToolCallStatus
>;

function callUpdate(toolCallId: string, { tool, params, outcome, error }: Call, directory: string): Update {
  const path = textOf(params, "path");
  const about = path ?? textOf(params, "command") ?? textOf(params, "pattern") ?? "";
  return {
    sessionUpdate: "tool_call",
    toolCallId,
    title: `${tool} ${about}`.trim(),
    name: tool,
    kind: kindOf(tool),
    status: CALLS[outcome],
    ...(path === undefined || isAbsolute(path) ? {} : { locations: [{ path: join(directory, path) }] }),
    ...(error === null ? {} : { content: [{ type: "content", content: { type: "text", text: error } }] }),
  };
}

function endOf({ standing, changes, failure, awaitingInput, landings }: Turn): string {
  const amount = `${count(changes.files.length, "file")} (+${changes.insertions} −${changes.deletions})`;
  const where = landings.flatMap(({ branch }) => branch ?? []).join(", ");
  switch (standing) {
    case "applied":
      return `Applied ${amount}${where === "" ? "" : ` to ${where}`}.`;
    case "undone":
      return `Applied ${amount}, and undone.`;
    case "ready to review":
      return `${amount} changed in the sandbox. \`/apply\` applies them, \`/diff\` shows them.`;
    case "waiting for you":
      return awaitingInput ?? "The strategy waits for you: `/continue` carries it out.";
    case "stopped":
      return `Stopped${failure === null ? "" : `: ${failure}`}. \`/continue\` carries on.`;
    case "working":
      return "Another process works on it.";
    case "not started":
      return "It has not begun: `/continue` carries it out.";
    case "answered":
    case "not chosen":
    case "cancelled":
      return "";
  }
}

function message(sessionUpdate: "user_message_chunk" | "agent_message_chunk", words: string): Update {
  return { sessionUpdate, content: { type: "text", text: words } };
}

function descriptionOf(chosen: unknown): string | undefined {
  return textOf(chosen, "description");
}

function textOf(value: unknown, key: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found: unknown = Object.entries(value).find(([name]) => name === key)?.[1];
  return typeof found === "string" ? found : undefined;
}
