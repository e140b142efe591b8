import * as z from "zod";
import type { GraphFunction } from "./actor.ts";
import type { ValidationIssue } from "../errors/errors.ts";
import type { JsonObject, JsonValue } from "../values/json.ts";
import { filled, formIssues } from "../definition/checked-schema.ts";

/**
 * The functions that function nodes of graphs can call: small steps on the state that need neither a model nor a tool.
 * A function's parameters are checked when a graph is read; the values in the state are only known when it runs.
 */
const INPUTS = {
  set: z.strictObject({ value: z.custom<JsonValue>((value) => value !== undefined, { message: "is required" }) }),
  increment: z.strictObject({ key: filled, by: z.number().default(1) }),
  concat: z.strictObject({ keys: z.array(filled).min(1), separator: z.string().default("") }),
  pick: z.strictObject({ key: filled, path: filled }),
  length: z.strictObject({ key: filled }),
} as const satisfies Record<GraphFunction, z.ZodType>;

type FunctionInputs = { readonly [F in GraphFunction]: z.output<(typeof INPUTS)[F]> };

/** A function with what it takes. */
export type FunctionCall = {
  readonly [F in GraphFunction]: { readonly function: F } & FunctionInputs[F];
}[GraphFunction];

/** The call a function node makes, or undefined with every reason in `issues`. */
export function parseFunctionCall(
  node: { readonly function: GraphFunction; readonly input: JsonObject },
  path: string,
  issues: ValidationIssue[],
): FunctionCall | undefined {
  const schema = INPUTS[node.function];
  const parsed = schema.safeParse(node.input);
  if (parsed.success) return { function: node.function, ...parsed.data } as FunctionCall;
  const found = formIssues(parsed.error, { own: Object.keys(schema.shape), list: "", items: [] });
  issues.push(...found.map((issue) => ({ ...issue, path: issue.path === "" ? path : `${path}.${issue.path}` })));
  return undefined;
}
