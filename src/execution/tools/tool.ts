/**
 * A tool: what it takes, what it may do, and the code. Everything it does to files goes through the workspace it is
 * given.
 */
import type * as z from "zod";
import type { JsonValue } from "../../domain/values/json.ts";
import type { ContextPort } from "./context-port.ts";
import type { Workspace } from "../workspace/workspace.ts";

export type Tool = WorkspaceTool | PlanTool;

interface Described<P> {
  readonly name: string;
  readonly description: string;
  readonly writes: boolean;
  /** Its changes are only found by comparing the files before and after. */
  readonly compared?: boolean;
  readonly parameters: z.ZodType<P>;
}

/** Works in one of the plan's resources. */
export interface WorkspaceTool<P = unknown> extends Described<P> {
  readonly run: (parameters: P, call: ToolCall) => Promise<JsonValue>;
}

/** Asks about the plan as a whole, and touches no file. */
export interface PlanTool<P = unknown> extends Described<P> {
  readonly ask: (parameters: P, call: PlanCall) => Promise<JsonValue>;
}

export interface ToolCall {
  readonly workspace: Workspace;
  /** The step that calls it. */
  readonly by: string;
  readonly signal: AbortSignal;
}

interface PlanCall {
  readonly port: ContextPort;
  readonly signal: AbortSignal;
}

/** Keeps the parameters' type from the schema to the code. */
export function tool<P>(definition: WorkspaceTool<P>): WorkspaceTool {
  return definition as WorkspaceTool;
}

export function planTool<P>(definition: PlanTool<P>): PlanTool {
  return definition as PlanTool;
}
