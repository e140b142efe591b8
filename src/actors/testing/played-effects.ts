/** Effects whose model answers what a test wrote down, and whose tools do what a test says. Nothing is durable. */
import type { DecisionId } from "../../domain/names/ids.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { About, ActorEffects, Asked, EffectsCall, Told } from "../loop/actor-effects.ts";
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

export class PlayedEffects implements ActorEffects {
  readonly signal: AbortSignal = new AbortController().signal;
  readonly asked: { readonly key: string; readonly call: Asked; readonly type: string; readonly question: string }[] =
    [];
  readonly called: { readonly key: string; readonly call: EffectsCall }[] = [];
  readonly #answers: (turn: number) => Played;
  readonly #tool: (call: EffectsCall) => ToolOutcome;

  constructor(
    answers: readonly Played[] | ((turn: number) => Played),
    tool: (call: EffectsCall) => ToolOutcome = () => ({ ok: true, output: "done" }),
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

  async callTool(key: string, call: EffectsCall): Promise<ToolOutcome> {
    this.called.push({ key, call });
    return this.#tool(call);
  }

  async once<T extends JsonValue>(_key: string, fn: () => Promise<T>): Promise<T> {
    return fn();
  }
}
