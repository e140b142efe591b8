import type { DecisionId } from "../../domain/names/ids.ts";
import type { JsonValue } from "../../domain/values/json.ts";
import { tokenizerNamed, tokenizerOf } from "../../context/tokens/tokenizer.ts";
import type { ActorEffects } from "../loop/actor-effects.ts";
import { remembered } from "../loop/memory.ts";
import { modelSettings } from "../models/model-settings.ts";
import { answerMessage, type ModelMessage, type ModelRef, type ModelTool } from "../models/model.ts";
import { carriedOut, toldOutcome } from "../loop/tool-turn.ts";
import { filledText } from "./state-template.ts";
import { NodeFailure } from "./graph-error.ts";
import type { ModelActor, PreparedNode } from "./prepared-graph.ts";
import type { GraphState } from "./state.ts";

/** How often the model of one node may ask for tools before it has to have answered. */
export const TURN_LIMIT = 25;

export interface AskPorts {
  readonly effects: ActorEffects;
  readonly modelOf: (actor: ModelActor) => ModelRef;
  readonly toolsFor: (names: readonly string[]) => readonly ModelTool[];
}

type AskNode = Extract<PreparedNode, { type: "llm" }>;

/**
 * The answer of a node's model. The model may use the node's tools first, turn by turn. Each question and each call is
 * a step of its own, so an interrupted conversation continues with the question that has no answer yet.
 */
export async function askNode(
  node: AskNode,
  moment: {
    readonly state: GraphState;
    readonly key: string;
    readonly decision: DecisionId;
    readonly briefing: string;
  },
  ports: AskPorts,
): Promise<JsonValue> {
  const { state, key, decision: parent } = moment;
  const { by, format } = node;
  const call = {
    model: ports.modelOf(by),
    system: [moment.briefing, node.systemPrompt ?? by.systemPrompt].filter((text) => text !== "").join("\n\n"),
    tools: node.tools.length === 0 ? [] : ports.toolsFor(node.tools),
    settings: modelSettings(by.options),
    ...(format === undefined ? {} : { responseSchema: format.schema }),
  };
  const count = (text: string): number => tokenizerNamed(tokenizerOf(call.model.model))(text);
  const question = node.description === "" ? `What does the node "${node.id}" answer?` : node.description;
  const messages: ModelMessage[] = [{ role: "user", content: filledText(node.prompt, state, "prompt") }];
  for (let turn = 1, recovers = false; ; turn += 1) {
    const type = recovers ? "error_recovery" : "implementation_choice";
    const { answer, decision } = await ports.effects.ask(
      `${key}/ask-${turn}`,
      // A copy, because the conversation continues while this is being recorded.
      { ...call, messages: [...remembered(messages, by.memory, count)] },
      { type, question, parent },
    );
    if (answer.toolCalls.length === 0) {
      if (answer.finish === "length") throw new NodeFailure("the answer was cut off at the model's limit of output");
      if (answer.text.trim() === "") throw new NodeFailure("the model answered nothing");
      return format === undefined ? answer.text : format.parsed(answer.text);
    }
    if (turn > TURN_LIMIT) {
      const message = `its model asked for tools ${TURN_LIMIT} times and for more, without coming to an answer`;
      throw new NodeFailure(message, "graph_limit");
    }
    messages.push(answerMessage(answer));
    recovers = false;
    // One after the other: the second call may well look at what the first one wrote.
    for (const [index, asked] of answer.toolCalls.entries()) {
      const outcome = await carriedOut(asked, answer, call.tools, (params) =>
        ports.effects.callTool(`${key}/call-${turn}.${index + 1}`, {
          tool: asked.tool,
          params,
          decision,
          forModel: true,
        }),
      );
      recovers ||= !outcome.ok;
      const output = toldOutcome(outcome);
      messages.push({ role: "tool", callId: asked.id, tool: asked.tool, output, failed: !outcome.ok });
    }
  }
}
