/**
 * The one way a tool is called: ask the guards, resolve, check the parameters, check that it is allowed, bind the
 * resource, run, record. The guards are asked where the call is put on record, and it stays there from before it is
 * looked at until it ended, so what was refused can be seen as well.
 */
import { AgentsError, ValidationError, type ValidationIssue } from "../../domain/errors/errors.ts";
import { shown, storable } from "../../domain/text/text.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import type { InvocationEnd } from "../../domain/plan/decision.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import { maskedJson, maskedText } from "../../platform/masking.ts";
import type { ReadPage } from "../../platform/web-page.ts";
import type { ContextPort } from "./context-port.ts";
import type { ChangesetHandle, PlanExecutionContext } from "../workspace/plan-execution-context.ts";
import { planStepOf } from "../../changes/step-records.ts";
import type { CallOutputs } from "./call-outputs.ts";
import type { SyntaxCheck } from "./syntax-check.ts";
import { isAdded, type PlanTool, type Tool } from "./tool.ts";
import {
  parameterIssuesOf,
  understoodParams,
  unfitParamsError,
  unknownKeysNote,
  withPresentNames,
  withPlainPaths,
} from "./tool-params.ts";
import { callAdded, toldAdded } from "./added-call.ts";
import { bindResource, requireMayWrite } from "./resource-binding.ts";
import { ONLY_BUILT_IN, type ToolSet } from "./tool-set.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface ToolRequest {
  readonly tool: string;
  readonly params: JsonObject;
  /** The step that calls it: no two of a wave may change one path. */
  readonly by: string;
  /** The decision it is called for; the call's changes are credited to both. */
  readonly decision: DecisionId;
  /**
   * A model asked for it. It is understood under the names that other agents use, is given no more than it can read at
   * a time, and is told the output of a command that failed. Otherwise a program made the call: it gets all of the
   * output, and a command that fails is a failure of the tool.
   */
  readonly forModel?: boolean;
}

export interface ToolEnvironment {
  readonly context: PlanExecutionContext;
  /** The tools of the plan. */
  readonly tools: ToolSet;
  readonly workspaces: ReadonlyMap<string, Workspace>;
  /** Answers questions about the plan; undefined where they cannot be asked. */
  readonly knowledge?: ContextPort | undefined;
  /** Reads a page of the web; undefined where the plan may not use the network. */
  readonly web?: ReadPage | undefined;
  readonly outputs?: CallOutputs | undefined;
  readonly syntax?: SyntaxCheck | undefined;
  readonly readOnly: boolean;
  /** Whether an earlier process may have made the call already, and ended before that was recorded. */
  readonly mayBeDone?: (request: ToolRequest) => Promise<boolean>;
  readonly signal: AbortSignal;
}

/** Ends a call that went well: closes its changeset, alone or together with something else. */
export type EndCall = (
  changeset: ChangesetHandle,
  end: Extract<InvocationEnd, { outcome: "ok" }>,
  output: JsonValue,
) => Promise<void>;

export async function callTool(
  request: ToolRequest,
  environment: ToolEnvironment,
  endCall?: EndCall,
): Promise<Extract<ToolOutcome, { ok: true }>> {
  const outcome = await tryTool(request, environment, endCall);
  if (outcome.ok) return outcome;
  throw outcome.cause ?? new AgentsError("tool_failed", outcome.error);
}

/**
 * The same, but a failure of the tool is returned. Everything else that can go wrong, such as a lost lease, is still
 * thrown.
 */
export async function tryTool(
  request: ToolRequest,
  environment: ToolEnvironment,
  endCall?: EndCall,
): Promise<ToolOutcome> {
  const { context, signal } = environment;
  signal.throwIfAborted();
  const interrupted = await interruptedError(request, environment);
  if (interrupted !== undefined) return { ok: false, error: interrupted.message, cause: interrupted };
  const { decision, tool, params } = request;
  const step = planStepOf(request.by);
  const guarded = { step, writes: environment.tools.get(tool)?.writes ?? true, within: step !== request.by };
  let changeset: ChangesetHandle;
  try {
    changeset = await context.startChangeset({ decision, tool, params, guarded });
  } catch (error) {
    if (isForbiddenTool(error)) return { ok: false, error: storable(error.message), cause: error };
    throw error;
  }
  const started = performance.now();
  const durationMs = (): number => performance.now() - started;
  let output: JsonValue;
  const ended = (): Parameters<EndCall>[1] => ({
    outcome: "ok",
    durationMs: durationMs(),
    resultSize: sizeOf(output),
  });
  try {
    // The output is recorded, and shown to models: without secrets.
    output = maskedJson(await context.run(changeset, () => perform(request, environment))).value;
    await endCall?.(changeset, ended(), output);
  } catch (error) {
    const end = { outcome: "failed", durationMs: durationMs(), error: messageOf(error) } as const;
    // Why the tool failed is what the caller must hear, also when that could not be recorded any more.
    const closed = await changeset.close(end).then(
      () => true,
      () => false,
    );
    if (closed && !signal.aborted && isToolFailure(error))
      return { ok: false, error: storable(error.message), changeset: changeset.id, cause: error };
    throw error;
  }
  if (endCall === undefined) await changeset.close(ended());
  const changed = changeset.hasEntries ? ({ changed: true } as const) : {};
  return { ok: true, output, ...told(request, output, environment.tools), ...changed, changeset: changeset.id };
}

/**
 * The parts of an outcome that are made from the recorded output, again whenever the record is read. Only built-in
 * tools are needed for it: the output of any other tool holds its text.
 */
export function told(
  { tool: name, params, forModel = false }: Pick<ToolRequest, "tool" | "params" | "forModel">,
  output: JsonValue,
  tools: ToolSet,
): Pick<Extract<ToolOutcome, { ok: true }>, "text" | "failure" | "image"> {
  if (!forModel) return {};
  const tool = tools.get(name);
  if (tool === undefined || isAdded(tool)) return toldAdded(output);
  const { params: meant, unknown } = understoodParams(tool, params);
  const shown = tool.text?.(output, meant) ?? (typeof output === "string" ? output : JSON.stringify(output));
  const failure = tool.failure?.(output);
  const image = tool.image?.(output);
  return {
    text: `${shown}${unknownKeysNote(tool, unknown)}`,
    ...(failure === undefined ? {} : { failure }),
    ...(image === undefined ? {} : { image }),
  };
}

/** An effect outside of the plan is not made twice: an interrupted call is told instead of repeated. */
async function interruptedError(
  request: ToolRequest,
  { tools, mayBeDone }: ToolEnvironment,
): Promise<AgentsError | undefined> {
  const tool = tools.get(request.tool);
  if (tool === undefined || !isAdded(tool) || tool.once !== true) return undefined;
  if ((await mayBeDone?.(request)) !== true) return undefined;
  return new AgentsError(
    "tool_failed",
    `The process that called "${tool.name}" ended before the answer was recorded. Whether the call was carried out is not known: find out before you call it again.`,
    { kept: "It was not called a second time." },
  );
}

/** Another tool may do; a limit that is used up stays so, and an approval is for a person to give. */
function isForbiddenTool(error: unknown): error is AgentsError {
  if (!(error instanceof AgentsError) || error.code !== "guard_refused") return false;
  return error.detail["guard"] === "tool_denylist" || error.detail["guard"] === "tool_allowlist";
}

const TOOL_FAILURES: ReadonlySet<string> = new Set([
  "tool_failed",
  "validation",
  "contained",
  "policy",
  "confinement_missing",
  "git_failed",
]);

/** The errors of file systems about a given path; a full or broken disk is not among them. */
const PATH_FAILURES: ReadonlySet<unknown> = new Set([
  "EISDIR",
  "ENOTDIR",
  "ENOENT",
  "EEXIST",
  "ENAMETOOLONG",
  "ENOTEMPTY",
  "ELOOP",
  "EACCES",
  "EPERM",
]);

function isToolFailure(error: unknown): error is Error {
  if (error instanceof AgentsError) return TOOL_FAILURES.has(error.code);
  return error instanceof Error && "code" in error && PATH_FAILURES.has(error.code);
}

/** The call itself, without a record: for one that is a check and no work, and whose result is kept elsewhere. */
export async function perform(
  request: Pick<ToolRequest, "tool" | "params" | "by" | "forModel">,
  environment: Omit<ToolEnvironment, "context">,
): Promise<JsonValue> {
  const tool = resolveTool(request.tool, environment.tools);
  const { by, forModel = false } = request;
  if (isAdded(tool)) return callAdded(tool, request, environment);
  const params = forModel ? understoodParams(tool, request.params).params : withPresentNames(tool, request.params);
  if ("ask" in tool) return asked(tool, params, environment);
  const { resource, ...given } = params;
  const parsed = tool.parameters.safeParse(given);
  if (!parsed.success) throw unfitParamsError(tool, parsed.error);
  requireMayWrite(tool, environment);
  const workspace = bindResource(resource, environment.workspaces);
  const plain = tool.parameters.parse(withPlainPaths(tool, given, workspace.sandbox));
  const { signal, outputs, syntax } = environment;
  const output = await workspace.during(by, () =>
    tool.run(plain, { workspace, by, signal, forModel, outputs, syntax }),
  );
  const failure = forModel ? undefined : tool.failure?.(output);
  if (failure === undefined) return output;
  throw new AgentsError("tool_failed", maskedText(failure), {
    kept: "Its earlier changes are recorded.",
    detail: isJsonObject(output) ? { ...output } : {},
  });
}

async function asked(
  tool: PlanTool,
  params: JsonObject,
  { knowledge, web, signal }: Pick<ToolEnvironment, "knowledge" | "web" | "signal">,
): Promise<JsonValue> {
  const parsed = tool.parameters.safeParse(params);
  if (!parsed.success) throw unfitParamsError(tool, parsed.error);
  if (tool.web === true && web === undefined)
    throw new AgentsError("tool_failed", `"${tool.name}" uses the network, which the plan's profile does not allow.`);
  if (tool.web !== true && knowledge === undefined)
    throw new AgentsError("tool_failed", `"${tool.name}" cannot be asked here.`);
  const nothing = (): never => {
    throw new Error(`"${tool.name}" was given no such port`);
  };
  const port = knowledge ?? { requestContext: nothing, queryHistory: nothing, contextBudget: nothing };
  return tool.ask(parsed.data, { port, web: web ?? nothing, signal });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function sizeOf(output: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(output));
}

function resolveTool(name: string, tools: ToolSet): Tool {
  const tool = tools.get(name);
  if (tool !== undefined) return tool;
  const suggestion = tools.nearest(name);
  const message = `There is no tool ${shown(name)}.`;
  throw new ValidationError(message, [{ path: "tool", message, ...(suggestion === undefined ? {} : { suggestion }) }]);
}

/** The problems of parameters with which a built-in tool is to be called later. */
export function parameterIssues(tool: string, params: Readonly<Record<string, unknown>>): ValidationIssue[] {
  const found = resolveTool(tool, ONLY_BUILT_IN);
  if (isAdded(found)) return [];
  const parsed = found.parameters.safeParse(withPresentNames(found, params));
  return parsed.success ? [] : parameterIssuesOf(parsed.error);
}
