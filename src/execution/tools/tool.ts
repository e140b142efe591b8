/**
 * A tool: what it takes, what it may do, and the code. Everything it does to files goes through the workspace it is
 * given. Its output is data, for graphs and for the record; `text` makes of it what a model reads. The text is not
 * recorded: it is made again from the output, so it depends on nothing else.
 */
import type * as z from "zod";
import type { AddedOutput, AddedToolFacts } from "../../domain/tool/added-tool.ts";
import type { ImageFacts } from "../../domain/values/image.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { ReadPage } from "../../platform/web-page.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { CallOutputs } from "./call-outputs.ts";
import type { ContextPort } from "./context-port.ts";
import type { ParameterSchema } from "./parameter-schema.ts";
import type { SyntaxCheck } from "./syntax-check.ts";

export type BuiltInTool = WorkspaceTool | PlanTool;
export type Tool = BuiltInTool | AddedTool;

/** A tool that is not built in, ready to be called. Its parameters fit its schema when it is. */
export type AddedTool = Omit<AddedToolFacts, "parameters" | "definition"> & {
  readonly schema: ParameterSchema;
  /** Only for the tool that reads skills. */
  readonly skills?: OfferedSkills;
} & (
    | { readonly run: (parameters: JsonObject, call: ToolCall) => Promise<AddedOutput> }
    | { readonly ask: (parameters: JsonObject, call: AskedCall) => Promise<AddedOutput> }
  );

/** The skills of a plan. */
interface OfferedSkills {
  readonly names: readonly string[];
  /** The description of the tool for an actor that gets only some of them. */
  description(names: readonly string[]): string;
}

/** A call that works in no resource. */
export interface AskedCall {
  readonly by: string;
  readonly signal: AbortSignal;
  readonly forModel: boolean;
  readonly outputs: CallOutputs | undefined;
}

export function isAdded(tool: Tool): tool is AddedTool {
  return "schema" in tool;
}

interface Described<P, O> {
  readonly name: string;
  readonly description: string;
  readonly writes: boolean;
  /** Its changes are only found by comparing the files before and after. */
  readonly compared?: boolean;
  readonly parameters: z.ZodType<P>;
  /** The parameters that name files or directories of the resource; a list of them counts too. */
  readonly paths?: readonly string[];
  /** The output as a model reads it; otherwise as JSON. */
  readonly text?: (output: O, params: JsonObject) => string;
  /** The image that is in the output; a model that can see is shown it. */
  readonly image?: (output: O) => ImageFacts | undefined;
  /**
   * Why the work failed although the tool did it, such as a command that ended with an exit code. A model is told the
   * output and goes on; for a step without a model it is a failure of the tool.
   */
  readonly failure?: (output: O) => string | undefined;
}

/** Works in one of the plan's resources. */
export interface WorkspaceTool<P = unknown, O = JsonValue> extends Described<P, O> {
  readonly run: (parameters: P, call: ToolCall) => Promise<O>;
}

/** Asks about the plan as a whole or reads the web, and touches no file. */
export interface PlanTool<P = unknown, O = JsonValue> extends Described<P, O> {
  /** It reads the web instead, and is only there for plans that may use the network. */
  readonly web?: true;
  readonly ask: (parameters: P, call: PlanCall) => Promise<O>;
}

export interface ToolCall {
  readonly workspace: Workspace;
  /** The step that calls it. */
  readonly by: string;
  readonly signal: AbortSignal;
  /** A model asked for it: it is given no more than it can read at a time. */
  readonly forModel: boolean;
  /** Undefined where no output is kept. */
  readonly outputs: CallOutputs | undefined;
  /** Undefined where code is not parsed. */
  readonly syntax: SyntaxCheck | undefined;
}

interface PlanCall {
  readonly port: ContextPort;
  readonly web: ReadPage;
  readonly signal: AbortSignal;
}

/** Keeps the types of the parameters and of the output from the schema to the code. */
export function tool<P, O extends JsonValue>(definition: WorkspaceTool<P, O>): WorkspaceTool {
  return definition as unknown as WorkspaceTool;
}

export function planTool<P, O extends JsonValue>(definition: PlanTool<P, O>): PlanTool {
  return definition as unknown as PlanTool;
}
