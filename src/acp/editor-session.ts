/**
 * One conversation in an editor. It is a session of ours: the store has its plans and everything said in it, and this
 * object holds only what the editor chose and the prompt that is being answered. One prompt is answered at a time.
 */
import type { ContentBlock, McpServer, StopReason } from "@agentclientprotocol/sdk";
import type { CallOptions, CleverAgents } from "../app/open.ts";
import { AgentsError, AwaitingInputError, BudgetError, ConflictError } from "../domain/errors/errors.ts";
import type { Microdollars } from "../domain/money/money.ts";
import type { EditorConversation, SessionOutcome } from "./editor-conversation.ts";
import { editorAsk } from "./editor-ask.ts";
import { text, type EditorClient, type Way } from "./editor-client.ts";
import { EditorServers } from "./editor-servers.ts";
import { promptOf, type Prompt } from "./prompt-content.ts";
import { RunUpdates } from "./run-updates.ts";
import { configOptionsOf, modesOf, withOption, type ChosenOptions } from "./session-options.ts";
import { commandIn, COMMANDS, runCommand } from "./slash-commands.ts";
import { outcomeText, questionText, type Spell } from "./editor-words.ts";

export interface SessionParts {
  readonly agents: CleverAgents;
  readonly client: EditorClient;
  readonly conversation: EditorConversation;
  readonly spell: Spell;
  readonly windowOf: (model: string) => number;
  readonly options: ChosenOptions;
}

/** One prompt on its way. */
interface Turn {
  readonly signal: AbortSignal;
  readonly updates: RunUpdates;
  readonly call: CallOptions;
}

export class EditorSession {
  readonly #parts: SessionParts;
  #options: ChosenOptions;
  #running: { readonly stop: AbortController; readonly ended: Promise<unknown> } | undefined;
  /** The plan that the operation under way is about. */
  #subject: string | undefined;
  readonly #costs = new Map<string, Microdollars>();
  #servers: EditorServers;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#options = parts.options;
    this.#servers = this.useServers([]);
  }

  get id(): string {
    return this.#parts.conversation.id;
  }

  get options(): ChosenOptions {
    return this.#options;
  }

  /** Those that the editor handed over last. */
  useServers(given: readonly McpServer[]): EditorServers {
    const { agents, conversation } = this.#parts;
    this.#servers = new EditorServers(agents, conversation.directory, given);
    return this.#servers;
  }

  get client(): EditorClient {
    return this.#parts.client;
  }

  /** The cost of a plan that was made before, for the sum that the editor shows. */
  knowCost(plan: string, cost: Microdollars): void {
    this.#costs.set(plan, cost);
  }

  offerCommands(): void {
    this.client.send({ sessionUpdate: "available_commands_update", availableCommands: [...COMMANDS] });
  }

  /** Both ways in which an editor chooses lead here, and each is told of the other. */
  async choose(id: string, value: string): Promise<void> {
    const { agents } = this.#parts;
    this.#options = await withOption(agents, this.#options, id, value);
    const { currentModeId } = await modesOf(agents, this.#options);
    this.client.send({ sessionUpdate: "current_mode_update", currentModeId });
    const configOptions = await configOptionsOf(agents, this.#options);
    this.client.send({ sessionUpdate: "config_option_update", configOptions });
  }

  /** Stops the prompt that is being answered; resolves when its work has ended. */
  async cancel(): Promise<void> {
    const running = this.#running;
    running?.stop.abort();
    await running?.ended.catch(() => undefined);
  }

  async prompt(blocks: readonly ContentBlock[]): Promise<StopReason> {
    if (this.#running !== undefined) throw busyError();
    const stop = new AbortController();
    const ended = this.#answer(blocks, stop.signal);
    this.#running = { stop, ended };
    try {
      await ended;
      return stop.signal.aborted ? "cancelled" : "end_turn";
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      this.client.say("Stopped. The recorded work is kept; `/continue` carries on.");
      return "cancelled";
    } finally {
      this.#running = undefined;
    }
  }

  async #answer(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<void> {
    const { agents, client, conversation, spell } = this.#parts;
    await using prompt = await promptOf(blocks, conversation.directory);
    const turn = this.#turn(signal);
    const command = commandIn(prompt.request);
    if (command === undefined || command.name === "continue") {
      return this.#converse(command === undefined ? prompt : undefined, turn);
    }
    const { name, rest } = command;
    const plan = await conversation.lastPlan();
    const onPlan = (about: string): void => void (this.#subject = about);
    const setBudget = (dollars: string): Promise<void> => this.choose("budget", dollars);
    const parts = { agents, client, call: turn.call, spell, plan, onPlan, setBudget, servers: this.#servers };
    client.say(await runCommand({ name, rest }, parts));
  }

  #turn(signal: AbortSignal): Turn {
    const { agents, client, windowOf } = this.#parts;
    const updates = new RunUpdates({
      client,
      windowOf,
      spentBefore: (plan) => this.#spentBeside(plan),
      onPlan: (plan) => (this.#subject = plan),
    });
    const ask = editorAsk({ agents, client, signal, plan: () => this.#subject });
    return { signal, updates, call: { signal, ask, answers: "person", tell: updates.tell } };
  }

  /** A prompt without words carries on. A plan that may go on after a person's yes is asked for, and goes on. */
  async #converse(prompt: Prompt | undefined, turn: Turn): Promise<void> {
    const { conversation, client } = this.#parts;
    let words = prompt;
    for (;;) {
      try {
        const outcome = await conversation.say(words, this.#options, turn.call);
        await this.#ended(outcome, turn);
        return;
      } catch (error) {
        if (error instanceof AwaitingInputError) return await this.#asks();
        if (!(await this.#remedied(error, turn))) throw error;
        words = undefined;
        client.think("Carrying on.\n");
      }
    }
  }

  async #ended(outcome: SessionOutcome, { updates }: Turn): Promise<void> {
    const { agents, client, conversation } = this.#parts;
    const plan = await conversation.lastPlan();
    if (plan !== undefined) {
      const { cost } = await agents.run("plan.budget", { plan });
      this.#costs.set(plan, Math.round((cost.spentUsd + cost.assumedUsd) * 1_000_000));
    }
    client.say(updates.inCheckout(outcomeText(outcome, updates.answered)));
    await this.#tellHeading();
  }

  /** An editor shows it above the conversation and in its list. */
  async #tellHeading(): Promise<void> {
    const heading = await this.#parts.conversation.heading();
    if (heading === undefined) return;
    const { title, toldAt: updatedAt } = heading;
    this.client.send({ sessionUpdate: "session_info_update", title, updatedAt });
  }

  #spentBeside(plan: string): Microdollars {
    return [...this.#costs].reduce((sum, [other, cost]) => (other === plan ? sum : sum + cost), 0);
  }

  /** The plan asks, and no answer came: the next prompt is the answer. */
  async #asks(): Promise<void> {
    const { agents, client, conversation } = this.#parts;
    const plan = await conversation.lastPlan();
    if (plan === undefined) return;
    const { awaitingInput } = await agents.run("plan.status", { plan });
    if (awaitingInput !== null) client.say(`${questionText(awaitingInput)}\n\nYour next message is the answer.`);
  }

  /** A budget that is used up, or an approval that a guard wants: the person is asked, and a yes has its effect. */
  async #remedied(error: unknown, { signal }: Turn): Promise<boolean> {
    const { client, conversation } = this.#parts;
    if (!(error instanceof AgentsError) || signal.aborted) return false;
    const plan = await conversation.lastPlan();
    const remedy = plan === undefined ? undefined : this.#remedyOf(error, plan);
    if (remedy === undefined) return false;
    const { way, carryOut } = remedy;
    const keep: Way = { id: "keep", name: "Keep for later", kind: "reject_once" };
    const content = [text(error.message)];
    const wish = { title: error.message, kind: "other", content, ways: [way, keep] } as const;
    if ((await client.permission(wish, signal)) !== way.id) return false;
    await carryOut();
    return true;
  }

  #remedyOf(
    error: AgentsError,
    plan: string,
  ): { readonly way: Way; readonly carryOut: () => Promise<unknown> } | undefined {
    const { agents } = this.#parts;
    if (error.code === "approval_needed" && error.detail["guard"] === "require_approval_for_writes") {
      const way: Way = { id: "approve", name: "Approve", kind: "allow_once" };
      return { way, carryOut: () => agents.run("plan.guard", { plan, allowWrites: true }) };
    }
    const dollars = error instanceof BudgetError ? raisedBudget(error) : undefined;
    if (dollars === undefined) return undefined;
    const way: Way = { id: "raise", name: `Raise the budget to $${dollars}`, kind: "allow_once" };
    return { way, carryOut: () => agents.run("plan.budget", { plan, dollars }) };
  }
}

/** Twice the cap, or enough for the call; undefined for a budget that is not the plan's own to raise. */
function raisedBudget({ code, detail, next }: BudgetError): string | undefined {
  const [raise] = next;
  const own = raise !== undefined && "operation" in raise && raise.operation === "plan.budget";
  if (code !== "budget_exceeded" || !own) return undefined;
  const [cap, ...parts] = ["cap_usd", "spent_usd", "reserved_usd", "wanted_usd"].map((key) => Number(detail[key]));
  const needed = parts.reduce((sum, one) => sum + one, 0);
  return (Math.ceil(Math.max((cap ?? 0) * 2, needed) * 100) / 100).toFixed(2);
}

function busyError(): ConflictError {
  return new ConflictError(
    "This session is still answering a prompt.",
    { expected: "a session that waits for a prompt", actual: "a prompt is being answered" },
    {
      kept: "Nothing of the new prompt was recorded.",
      next: [{ text: "cancel it first, or wait until it has ended" }],
    },
  );
}
