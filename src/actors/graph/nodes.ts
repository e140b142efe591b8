import type { DecisionId } from "../../domain/names/ids.ts";
import { evaluate, holds } from "../../domain/values/expression.ts";
import type { FunctionCall } from "../../domain/actor/graph-function.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import { askNode, type AskPorts } from "./ask-node.ts";
import { asText, filledParams } from "./state-template.ts";
import { NodeFailure } from "./graph-error.ts";
import type { PreparedGraph, PreparedNode } from "./prepared-graph.ts";
import { isList, kindOf, valueAt, valueBelow, type GraphState } from "./state.ts";

/** The state and settings that a node sees when it runs. */
export interface Moment {
  readonly state: GraphState;
  /** Under which its steps are recorded: it says where in the run the node is. */
  readonly key: string;
  readonly decision: DecisionId;
  /** Text that every model is told; empty for none. */
  readonly briefing: string;
  /** Runs an inner graph to its end. */
  readonly inner: (graph: PreparedGraph, state: JsonObject, key: string) => Promise<JsonValue>;
}

/**
 * The result of one run of a node. Only asking models and calling tools is recorded; everything else is a function of
 * the state, so a resumed run reaches the same result.
 */
export async function runNode(node: PreparedNode, moment: Moment, ports: AskPorts): Promise<JsonValue> {
  const { state, key, decision } = moment;
  switch (node.type) {
    case "llm":
      return await askNode(node, moment, ports);
    case "tool": {
      const params = filledParams(node.params, state);
      const outcome = await ports.effects.callTool(key, { tool: node.tool, params, decision });
      if (!outcome.ok) throw new NodeFailure(`${node.tool}: ${outcome.error.replace(/\.$/, "")}`);
      return outcome.output;
    }
    case "validation": {
      const params = filledParams(node.params, state);
      const outcome = await ports.effects.callTool(key, { tool: node.tool, params, decision });
      if (!outcome.ok) return { passed: false, error: outcome.error };
      const { output } = outcome;
      return { passed: holds(node.check, { ...state, output }), output };
    }
    case "conditional":
      return node.branches.find(({ check }) => check === undefined || holds(check, state))?.to ?? null;
    case "subgraph": {
      const given = Object.entries(node.input).map(([inner, outer]) => [inner, valueBelow(state, outer)] as const);
      const known = given.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
      return await moment.inner(node.graph, Object.fromEntries(known), key);
    }
    case "function":
      return applied(node.call, state);
  }
}

function applied(call: FunctionCall, state: GraphState): JsonValue {
  switch (call.function) {
    case "set":
      return filledParams({ value: call.value }, state)["value"] ?? null;
    case "increment": {
      const value = valueAt(state, call.key) ?? 0;
      if (typeof value === "number") return value + call.by;
      throw new NodeFailure(`"${call.key}" is ${kindOf(value)}, and only a number can be incremented`);
    }
    case "concat": {
      const values = call.keys.map((key) => valueAt(state, key) ?? "");
      const lists = values.map((value) =>
        typeof value === "object" && value !== null && isList(value) ? value : undefined,
      );
      if (lists.every((list) => list !== undefined)) return lists.flat();
      return values.map(asText).join(call.separator);
    }
    case "pick":
      return valueBelow(state, `${call.key}.${call.path}`) ?? null;
    case "length":
      return evaluate({ kind: "length", of: { kind: "key", path: [call.key] } }, state);
  }
}
