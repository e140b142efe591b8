import type * as z from "zod";
import type { JsonValue } from "../domain/json.ts";
import type { Workspace } from "./workspace.ts";

/** A tool: what it takes, what it may do, and the code. Everything it does to files goes through the workspace it is given. */
export interface Tool<P = unknown> {
  readonly name: string;
  readonly description: string;
  readonly writes: boolean;
  /** What it changes is only found by comparing before and after. */
  readonly compared?: boolean;
  readonly parameters: z.ZodType<P>;
  readonly run: (parameters: P, call: ToolCall) => Promise<JsonValue>;
}

export interface ToolCall {
  readonly workspace: Workspace;
  /** The step that calls it. */
  readonly by: string;
  readonly signal: AbortSignal;
}

/** Keeps the parameters' type from the schema to the code. */
export function tool<P>(definition: Tool<P>): Tool {
  return definition as Tool;
}
