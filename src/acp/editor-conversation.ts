/**
 * The conversation of an editor's session, as the store has it. Each prompt is told to the session: it answers a
 * question, guides the plan on its way, continues an executed plan, or makes the next plan.
 */
import type { CallOptions, CleverAgents } from "../app/open.ts";
import type { OutputOf } from "../app/table/operation-table.ts";
import { NotFoundError } from "../domain/errors/errors.ts";
import type { Prompt } from "./prompt-content.ts";
import type { ChosenOptions } from "./session-options.ts";

export type SessionOutcome = OutputOf<"run"> | OutputOf<"tell"> | OutputOf<"session.resume">;

export interface EditorConversation {
  readonly id: string;
  readonly directory: string;
  /** Without a prompt the last plan carries on as it stands. */
  say(prompt: Prompt | undefined, options: ChosenOptions, call: CallOptions): Promise<SessionOutcome>;
  /** Undefined before the first prompt. */
  lastPlan(): Promise<string | undefined>;
  /** As lists of sessions show it; undefined before the first prompt. */
  heading(): Promise<{ readonly title: string; readonly toldAt: string } | undefined>;
}

export interface ConversationPlace {
  readonly id: string;
  readonly directory: string;
  /** The store has it: it begins with its first request. */
  readonly begun: boolean;
}

export class StoredConversation implements EditorConversation {
  readonly id: string;
  readonly directory: string;
  readonly #agents: CleverAgents;
  #begun: boolean;

  constructor(agents: CleverAgents, { id, directory, begun }: ConversationPlace) {
    this.#agents = agents;
    this.id = id;
    this.directory = directory;
    this.#begun = begun;
  }

  async say(prompt: Prompt | undefined, options: ChosenOptions, call: CallOptions): Promise<SessionOutcome> {
    const { directory, id: session } = this;
    if (prompt !== undefined) return this.#told(prompt, options, call);
    if (this.#begun) return this.#agents.run("session.resume", { session, directory }, call);
    throw new NotFoundError("plan", "last", { next: [{ text: "say what you want done" }] });
  }

  /** The choices are for a new plan: one that continues was made with others, and keeps them. */
  async #told({ request, images }: Prompt, options: ChosenOptions, call: CallOptions): Promise<SessionOutcome> {
    const { profile: automationProfile, actor, budget } = options;
    const { directory, id } = this;
    const choices = { images, automationProfile, actor, budget };
    if (!this.#begun) {
      const tell: CallOptions["tell"] = (event) => {
        if (event.type === "plan_made") this.#begun = true;
        call.tell?.(event);
      };
      return this.#agents.run("run", { request, directory, newSession: id, ...choices }, { ...call, tell });
    }
    const { state } = await this.#agents.run("session.show", { session: id, directory });
    if (images.length === 0 && CONTINUES.has(state))
      return this.#agents.run("tell", { session: id, text: request, directory }, call);
    return this.#agents.run("run", { request, directory, session: id, ...choices }, call);
  }

  async lastPlan(): Promise<string | undefined> {
    return (await this.#facts())?.lastPlan;
  }

  heading(): Promise<{ readonly title: string; readonly toldAt: string } | undefined> {
    return this.#facts();
  }

  async #facts(): Promise<OutputOf<"session.show"> | undefined> {
    const { directory, id: session } = this;
    return this.#begun ? this.#agents.run("session.show", { session, directory }) : undefined;
  }
}

/** Where words go to the last plan. */
const CONTINUES: ReadonlySet<string> = new Set([
  "not started",
  "working",
  "waiting for you",
  "stopped",
  "ready to review",
]);
