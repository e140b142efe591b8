/** The events of a run as updates of an editor's session. */
import { isAbsolute, join, relative } from "node:path";
import type { PlanEntryStatus, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { dollars, type Microdollars } from "../domain/money/money.ts";
import type {
  ChecklistEvent,
  HookEvent,
  ModelEvent,
  RunEvent,
  StepEvent,
  ToolEvent,
  ValidationEvent,
} from "../domain/run-event.ts";
import type { EditorClient } from "./editor-client.ts";

export interface UpdateParts {
  readonly client: Pick<EditorClient, "send" | "say" | "think" | "notice">;
  /** How many tokens the model can take; 0 when that is not known. */
  readonly windowOf: (model: string) => number;
  /** The cost of the session's other plans. */
  readonly spentBefore: (plan: string) => Microdollars;
  /** A plan was made of the prompt, or goes on. */
  readonly onPlan: (plan: string) => void;
}

interface Entry {
  content: string;
  status: PlanEntryStatus;
  list: ChecklistEvent["items"];
}

/** A directory of the user's and the copy of it in which the plan works. */
interface Place {
  readonly sandbox: string;
  readonly own: string;
}

export class RunUpdates {
  readonly #parts: UpdateParts;
  readonly #entries = new Map<string, Entry>();
  readonly #places = new Map<string, Place>();
  /** Of several steps at once, one is heard as it speaks; the words of the others wait until it has ended. */
  #speaker: string | undefined;
  readonly #waiting = new Map<string, string>();
  #spent: Microdollars = 0;
  #plan = "";
  #models = "";
  #answered = "";
  readonly #checks = new Set<string>();

  constructor(parts: UpdateParts) {
    this.#parts = parts;
  }

  /** The text that the models said last, to know whether the answer was heard already. */
  get answered(): string {
    return this.#answered;
  }

  /** The text with the paths of the sandbox replaced by those of the user's checkout. */
  readonly inCheckout = (text: string): string =>
    [...this.#places.values()].reduce((all, { sandbox, own }) => all.replaceAll(sandbox, () => own), text);

  readonly tell = (event: RunEvent): void => {
    const { client, onPlan } = this.#parts;
    switch (event.type) {
      case "plan_made":
        onPlan(event.plan);
        if (event.made.length > 0) client.think(`Made ${event.made.join(", ")}.\n`);
        return;
      case "run_started":
        return this.#begin(event);
      case "decided":
      case "step_started":
      case "step_done":
      case "step_recorded":
      case "step_failed":
        return this.#step(event);
      case "context_assembled":
      case "ask_started":
      case "text":
      case "thought":
      case "text_void":
      case "ask_answered":
      case "ask_waits":
      case "ask_failed":
        return this.#model(event);
      case "checklist":
        this.#entry(event.step, event.step).list = event.items;
        return this.#showPlan();
      case "tool_started":
      case "tool_ended":
        return this.#tool(event);
      case "hook":
      case "validation":
        return this.#check(event);
      case "sandbox":
        this.#places.set(event.resource, { sandbox: event.root, own: event.place });
        return;
      case "budget_warning":
        return client.notice("warning", `${dollars(event.spent)} of ${dollars(event.cap)} of the budget is spent.`);
      case "notice":
        return client.notice(event.level, this.inCheckout(event.text));
      case "kept_files":
        return client.notice("warning", `Kept because another program was writing: ${event.files.join(", ")}.`);
      // Several candidates are compared on the command line.
      case "candidates_started":
      case "candidate":
      case "candidate_ended":
      case "landing":
      case "progress":
      case "gateway_ready":
      case "recorded":
      case "answer_text":
      case "answer_void":
      case "answer_waits":
        return;
    }
  };

  #begin({ plan, models, spent }: Extract<RunEvent, { type: "run_started" }>): void {
    this.#plan = plan;
    this.#parts.onPlan(plan);
    this.#spent = this.#parts.spentBefore(plan) + spent;
    const names = models.join(", ");
    if (names !== "" && names !== this.#models) this.#parts.client.think(`Asking ${names}.\n`);
    this.#models = names;
  }

  #step(event: StepEvent): void {
    if (event.type === "decided") {
      const known = new Map(this.#entries);
      this.#entries.clear();
      for (const { step, description } of event.steps) {
        this.#entries.set(step, known.get(step) ?? { content: description, status: "pending", list: [] });
      }
      // Not every editor shows a plan.
      if (!event.before && event.steps.length > 0) this.#parts.client.think(stepList(event.steps));
      return this.#showPlan();
    }
    const entry = this.#entry(event.step, event.description);
    entry.status =
      event.type === "step_started" ? "in_progress" : event.type === "step_failed" ? "pending" : "completed";
    if (event.type === "step_failed") {
      this.#parts.client.notice("warning", `Step ${event.step} failed: ${this.inCheckout(event.error)}`);
    }
    this.#showPlan();
  }

  #entry(step: string, description: string): Entry {
    const known = this.#entries.get(step);
    if (known !== undefined) return known;
    const made: Entry = { content: description, status: "in_progress", list: [] };
    this.#entries.set(step, made);
    return made;
  }

  #showPlan(): void {
    const entries = [...this.#entries.values()].flatMap(({ content, status, list }) => [
      { content, status, priority: "medium" as const },
      ...(status === "in_progress" ? list : []).map((item) => ({
        content: `– ${item.text}`,
        status: LIST_STATUS[item.state],
        priority: "low" as const,
      })),
    ]);
    this.#parts.client.send({ sessionUpdate: "plan", entries });
  }

  #model(event: ModelEvent): void {
    const { client } = this.#parts;
    switch (event.type) {
      case "context_assembled":
      case "ask_started":
        return;
      case "text":
        return this.#heard(event.step, event.text);
      case "thought":
        if (this.#speaker === undefined || this.#speaker === event.step) client.think(event.text);
        return;
      case "text_void":
        this.#waiting.delete(event.step);
        if (this.#speaker === event.step) client.say("\n\n(The connection broke; the answer begins again.)\n\n");
        this.#answered = "";
        return;
      case "ask_waits":
        return client.think(`${event.why}, again in ${Math.ceil(event.delayMs / 1_000)} s.\n`);
      case "ask_failed":
        this.#ended(event.step);
        return client.think(`${event.error}\n`);
      case "ask_answered":
        this.#ended(event.step);
        return this.#used(event);
    }
  }

  #heard(step: string, words: string): void {
    if (this.#speaker === undefined) this.#answered = "";
    this.#speaker ??= step;
    if (this.#speaker !== step) {
      this.#waiting.set(step, (this.#waiting.get(step) ?? "") + words);
      return;
    }
    this.#answered += words;
    this.#parts.client.say(words);
  }

  #ended(step: string): void {
    if (this.#speaker === step) {
      this.#parts.client.say("\n\n");
      this.#speaker = undefined;
    }
    if (this.#speaker !== undefined) return;
    // Those that ended meanwhile, and the beginning of those that still speak.
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [other, words] of waiting) {
      this.#answered = words;
      this.#parts.client.say(`${words}${other === step ? "\n\n" : ""}`);
    }
  }

  /** The tokens of the latest call, and the exact cost of the session so far. */
  #used({ model, inputTokens, outputTokens, cost }: Extract<ModelEvent, { type: "ask_answered" }>): void {
    this.#spent += cost ?? 0;
    this.#parts.client.send({
      sessionUpdate: "usage_update",
      used: inputTokens + outputTokens,
      size: this.#parts.windowOf(`${model.provider}/${model.model}`),
      cost: { amount: this.#spent / 1_000_000, currency: "USD" },
    });
  }

  #tool(event: ToolEvent): void {
    const toolCallId = `${this.#plan}/${event.step}/${event.key}`;
    if (event.type === "tool_started") {
      const title = this.inCheckout(`${event.tool} ${event.target}`.trim());
      const locations = this.#locations(event);
      const facts = { toolCallId, title, name: event.tool, kind: kindOf(event.tool), locations };
      this.#parts.client.send({ sessionUpdate: "tool_call", status: "in_progress", ...facts });
      return;
    }
    const { error } = event;
    this.#parts.client.send({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: error === undefined ? "completed" : "failed",
      ...(error === undefined
        ? {}
        : { content: [{ type: "content", content: { type: "text", text: this.inCheckout(error) } }] }),
    });
  }

  /** In the user's checkout: the copy in which the plan works is not for the editor to open. */
  #locations({ path, resource }: ToolEvent): ToolCallLocation[] {
    if (path === undefined) return [];
    const [only, ...others] = this.#places.values();
    const place = resource === undefined ? (others.length === 0 ? only : undefined) : this.#places.get(resource);
    if (place === undefined) return [];
    const inside = isAbsolute(path) ? relative(place.sandbox, path) : path;
    return isAbsolute(inside) || inside.startsWith("..") ? [] : [{ path: join(place.own, inside) }];
  }

  #check(event: HookEvent | ValidationEvent): void {
    const name = event.type === "hook" ? event.hook : event.validation;
    const toolCallId = `${this.#plan}/check/${event.resource}/${name}`;
    const facts = { toolCallId, title: `check: ${name} (${event.resource})`, kind: "execute" } as const;
    const status = CHECK_STATUS[event.event];
    // A result of an earlier run comes without a start.
    const isNew = event.event === "started" || !this.#checks.has(toolCallId);
    this.#checks.add(toolCallId);
    this.#parts.client.send({ sessionUpdate: isNew ? "tool_call" : "tool_call_update", ...facts, status });
  }
}

const CHECK_STATUS = {
  started: "in_progress",
  done: "completed",
  recorded: "completed",
  skipped: "completed",
  passed: "completed",
  failed: "failed",
} as const;
const LIST_STATUS = { open: "pending", doing: "in_progress", done: "completed" } as const;

function stepList(steps: readonly { readonly step: string; readonly description: string }[]): string {
  return `${steps.map(({ description }, index) => `${index + 1}. ${description}`).join("\n")}\n`;
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  list_directory: "read",
  get_file_info: "read",
  git_status: "read",
  git_diff: "read",
  git_log: "read",
  git_blame: "read",
  command_output: "read",
  request_context: "read",
  query_history: "read",
  get_context_budget: "read",
  search_files: "search",
  find_files: "search",
  write_file: "edit",
  edit_file: "edit",
  apply_patch: "edit",
  copy_file: "edit",
  create_directory: "edit",
  rewrite_code: "edit",
  move_file: "move",
  delete_file: "delete",
  delete_directory: "delete",
  shell_execute: "execute",
  command_stop: "execute",
  web_fetch: "fetch",
};

export function kindOf(tool: string): ToolKind {
  return KINDS[tool] ?? "other";
}
