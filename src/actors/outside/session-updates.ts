/** The notices of an agent about its session, as a person watches them. An unknown kind of notice is left out. */
import * as z from "zod";
import type { AgentListener } from "./agent-port.ts";

/** Characters of the last message that are kept; the rest was told when it came. */
const LONGEST_TEXT = 64 * 1024;
const LONGEST_TITLE = 500;

const Block = z.object({ type: z.literal("text"), text: z.string() });
const Text = z.object({ content: Block });
const Call = z.object({
  toolCallId: z.string(),
  title: z.string().nullish(),
  kind: z.string().nullish(),
  status: z.enum(["pending", "in_progress", "completed", "failed"]).nullish().catch(undefined),
});
const Plan = z.object({
  entries: z.array(z.object({ content: z.string(), status: z.string().nullish() })).max(1_000),
});
type Plan = z.output<typeof Plan>;
/** Version 2 of the protocol also tells a whole message at once, and replaces what it told of it before. */
const Whole = z.object({ messageId: z.string(), content: z.array(z.unknown()).nullish() });
const Update = z.discriminatedUnion("sessionUpdate", [
  Text.extend({ sessionUpdate: z.literal("agent_message_chunk") }),
  Text.extend({ sessionUpdate: z.literal("agent_thought_chunk") }),
  Call.extend({ sessionUpdate: z.literal("tool_call") }),
  Call.extend({ sessionUpdate: z.literal("tool_call_update") }),
  Plan.extend({ sessionUpdate: z.literal("plan") }),
  z.object({ sessionUpdate: z.literal("plan_update"), plan: Plan.extend({ type: z.literal("items") }) }),
  Whole.extend({ sessionUpdate: z.literal("agent_message") }),
  Whole.extend({ sessionUpdate: z.literal("agent_thought") }),
  z.object({ sessionUpdate: z.literal("current_mode_update"), currentModeId: z.string() }),
]);
const Params = z.object({ update: Update });

type Known = {
  readonly title: string;
  readonly kind: string;
  readonly status: "pending" | "in_progress" | "completed" | "failed";
};
/** Calls whose title and kind are remembered for their later notices. */
const MOST_CALLS = 10_000;
const STATES = { in_progress: "doing", completed: "done" } as const;

export class SessionUpdates {
  readonly #listener: AgentListener;
  readonly #calls = new Map<string, Known>();
  #message = "";
  #between = true;
  #mode: string | undefined;

  constructor(listener: AgentListener) {
    this.#listener = listener;
  }

  /** The agent's last message, from its end. */
  get message(): string {
    return this.#message;
  }

  /** The mode that the agent told last. */
  get mode(): string | undefined {
    return this.#mode;
  }

  /** A new turn begins. */
  begin(): void {
    this.#message = "";
    this.#between = true;
  }

  take(params: unknown): void {
    const read = Params.safeParse(params);
    if (!read.success) return;
    const { update } = read.data;
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return this.#say(update.content.text);
      case "agent_thought_chunk":
        return this.#listener.thought(update.content.text);
      case "tool_call":
      case "tool_call_update":
        return this.#call(update);
      case "plan":
        return this.#plan(update);
      case "plan_update":
        return this.#plan(update.plan);
      case "agent_message":
        return this.#replace(textOf(update));
      case "agent_thought":
        return this.#listener.thought(textOf(update));
      case "current_mode_update":
        this.#mode = update.currentModeId;
    }
  }

  #plan({ entries }: Plan): void {
    this.#listener.plan(
      entries.map(({ content, status }) => ({
        text: content.slice(0, LONGEST_TITLE),
        state: status === "in_progress" || status === "completed" ? STATES[status] : "open",
      })),
    );
  }

  /** A message that was told in pieces before is not told once more. */
  #replace(text: string): void {
    if (text === "") return;
    const told = this.#between ? "" : this.#message;
    this.#between = false;
    this.#message = text.slice(-LONGEST_TEXT);
    if (told !== this.#message) this.#listener.text(text.startsWith(told) ? text.slice(told.length) : text);
  }

  #say(text: string): void {
    // After a call of a tool another message begins; the last one is the result of the turn.
    if (this.#between && text.trim() !== "") {
      this.#message = "";
      this.#between = false;
    }
    this.#message = `${this.#message}${text}`.slice(-LONGEST_TEXT);
    this.#listener.text(text);
  }

  #call({ toolCallId: id, title, kind, status }: z.output<typeof Call>): void {
    this.#between = true;
    const before = this.#calls.get(id) ?? { title: "", kind: "other", status: "pending" };
    const known: Known = {
      title: (title ?? before.title).slice(0, LONGEST_TITLE),
      kind: kind ?? before.kind,
      status: status ?? before.status,
    };
    if (this.#calls.size < MOST_CALLS) this.#calls.set(id, known);
    this.#listener.tool({ id, ...known });
  }
}

function textOf({ content }: z.output<typeof Whole>): string {
  return (content ?? []).map((block) => Block.safeParse(block).data?.text ?? "").join("");
}
