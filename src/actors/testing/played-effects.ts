/** Effects whose model answers what a test wrote down, and whose tools do what a test says. Nothing is durable. */
import type { DecisionId } from "../../domain/names/ids.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { About, AgentEffects, Asked, ChecklistItem, EffectCall, Revision, Told } from "../loop/actor-effects.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";

export interface PlayedCall {
  readonly tool: string;
  readonly params?: JsonObject;
  readonly raw?: string;
}

export interface Played {
  readonly text?: string;
  readonly calls?: readonly PlayedCall[];
  readonly finish?: Told["finish"];
}

export class PlayedEffects implements AgentEffects {
  readonly signal: AbortSignal = new AbortController().signal;
  readonly asked: { readonly key: string; readonly call: Asked; readonly type: string; readonly question: string }[] =
    [];
  /** The words of people, by the key of the turn before which they say them. */
  readonly says = new Map<string, readonly string[]>();
  /** The user's answers, in order. */
  readonly userAnswers: string[] = [];
  readonly userQuestions: string[] = [];
  readonly revisions: Revision[] = [];
  readonly lists: (readonly ChecklistItem[])[] = [];
  readonly called: { readonly key: string; readonly call: EffectCall }[] = [];
  readonly #answers: (turn: number) => Played;
  readonly #tool: (call: EffectCall) => ToolOutcome;

  constructor(
    answers: readonly Played[] | ((turn: number) => Played),
    tool: (call: EffectCall) => ToolOutcome = () => ({ ok: true, output: "done" }),
  ) {
    const at = (turn: number): Played => {
      const answer = typeof answers === "function" ? answers(turn) : answers[turn - 1];
      if (answer === undefined) throw new Error(`the model was asked ${turn} times`);
      return answer;
    };
    this.#answers = at;
    this.#tool = tool;
  }

  async ask(key: string, call: Asked, about: About): Promise<{ answer: Told; decision: DecisionId }> {
    const turn = this.asked.length + 1;
    const { text = "", calls = [], finish } = this.#answers(turn);
    const answer: Told = {
      text,
      toolCalls: calls.map(({ tool, params, raw }, index) => ({
        id: `${turn}-${index}`,
        tool,
        params: raw === undefined ? (params ?? {}) : undefined,
        raw: raw ?? JSON.stringify(params ?? {}),
      })),
      finish: finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
      model: call.model,
      usage: { inputTokens: 0, outputTokens: 0, estimated: false },
    };
    const type = typeof about.type === "string" ? about.type : about.type(answer);
    this.asked.push({ key, call, type, question: about.question });
    return { answer, decision: `decision-${turn}` as DecisionId };
  }

  async callTool(key: string, call: EffectCall): Promise<ToolOutcome> {
    this.called.push({ key, call });
    return this.#tool(call);
  }

  async once<T extends JsonValue>(_key: string, fn: () => Promise<T>): Promise<T> {
    return fn();
  }

  async hear(key: string): Promise<readonly string[]> {
    return (this.says.get(key) ?? []).map((text) => `The user says: ${text}`);
  }

  async isRecorded(): Promise<boolean> {
    return false;
  }

  async askUser(_key: string, question: string): Promise<string> {
    this.userQuestions.push(question);
    const answer = this.userAnswers.shift();
    if (answer === undefined) throw new Error(`the user was asked: ${question}`);
    return answer;
  }

  async revise(_key: string, revision: Revision): Promise<{ readonly steps: readonly string[] }> {
    this.revisions.push(revision);
    return { steps: revision.steps.map(({ id }) => id) };
  }

  aside<T>(_key: string, _about: object, run: (effects: AgentEffects) => Promise<T>): Promise<T> {
    return run(this);
  }

  showChecklist(items: readonly ChecklistItem[]): void {
    this.lists.push(items);
  }
}
