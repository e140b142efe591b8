/** One call of a tool, from its arguments to its answer. */
import { setTimeout as sleep } from "node:timers/promises";
import type { InputRequiredResult } from "@modelcontextprotocol/server";
import { parseInput } from "../app/base/parse-input.ts";
import { isStorable } from "../app/base/storable.ts";
import { snakeCase } from "../app/base/wire.ts";
import type { CallOptions, CleverAgents } from "../app/open.ts";
import type { InputOf, OutputOf } from "../app/table/operation-table.ts";
import { UsageError } from "../domain/errors/errors.ts";
import { approved } from "./approval.ts";
import type { RequestClient } from "./client.ts";
import { camelKeys, type MarkedTool } from "./marked-tools.ts";
import type { RunningPlan, RunningPlans } from "./running-plans.ts";
import { answerOf, errorAnswer, errorText, type AnswerParts, type ToolAnswer } from "./tool-answer.ts";
import { requireDirectory, rootDirectory } from "./working-directory.ts";

/** Chosen by the user who starts the server, for every plan that is made. */
export interface PlanChoices {
  readonly automationProfile: string | undefined;
  readonly actor: string | undefined;
  readonly budget: string | undefined;
}

export interface CallParts extends AnswerParts {
  readonly agents: CleverAgents;
  readonly runningPlans: RunningPlans;
  readonly options: PlanChoices;
  /** The directory of the server; undefined for one that serves clients elsewhere. */
  readonly directory: string | undefined;
  readonly connection: Connection;
}

/** Kept between the calls of one client. */
export interface Connection {
  /** It is one client's, so that its roots hold for all of its calls. */
  readonly isLasting: boolean;
  /** Its roots as it told them. */
  roots: readonly { readonly uri: string }[] | undefined;
}

type Input = Readonly<Record<string, unknown>>;

export async function callTool(
  tool: MarkedTool,
  given: Input,
  client: RequestClient,
  parts: CallParts,
): Promise<ToolAnswer | InputRequiredResult> {
  try {
    if (!isStorable(given)) throw unstorableError();
    const checked = camelKeys(tool, given);
    parseInput(tool.input, checked, snakeCase);
    const { connection } = parts;
    connection.roots = client.roots ?? connection.roots;
    const wantsRoots = tool.takesDirectory && checked["directory"] === undefined && client.hasRoots;
    if (wantsRoots && connection.isLasting && connection.roots === undefined) return client.askForRoots();
    const input = tool.takesDirectory ? await placed(checked, parts) : checked;
    switch (tool.kind) {
      case "long":
        return await begun(tool, input, client, parts);
      case "approval":
        return await decided(tool, input, client, parts);
      case "call":
        return tool.operation === "plan.await"
          ? await waited(tool, input, client, parts)
          : await answered(tool, input, client, parts);
    }
  } catch (error) {
    return errorAnswer(error, parts);
  }
}

function unstorableError(): UsageError {
  return new UsageError("An argument has half a surrogate pair or a NUL character.", { kept: "Nothing was changed." });
}

async function placed(input: Input, { directory: own, connection }: CallParts): Promise<Input> {
  const { directory: named = rootDirectory(connection.roots ?? []) ?? own } = input;
  if (typeof named !== "string") return input;
  await requireDirectory(named);
  return { ...input, directory: named };
}

async function answered(tool: MarkedTool, input: Input, client: RequestClient, parts: CallParts): Promise<ToolAnswer> {
  const notes: string[] = [];
  const output = await parts.agents.run(tool.operation, withOptions(tool, input, parts), callOf(client, notes));
  return answerOf(tool, { output, notes, ...planOf(input) }, parts);
}

/** No one answers but the client's own user, in a form. */
function callOf(client: RequestClient, notes: string[]): CallOptions {
  return {
    signal: client.signal,
    answers: "none",
    ask: () => Promise.resolve({ kind: "none" }),
    tell: (event) => {
      if (event.type === "notice") notes.push(event.text);
      client.tell(event);
    },
  };
}

function planOf({ plan }: Input): { readonly plan?: string } {
  return typeof plan === "string" ? { plan } : {};
}

/** The input of an operation, with what the user chose when the server was started. */
function withOptions(tool: MarkedTool, input: Input, { options }: CallParts): InputOf<MarkedTool["operation"]> {
  const { automationProfile, actor, budget } = options;
  const chosen =
    tool.operation === "run"
      ? { automationProfile, actor, budget }
      : tool.operation === "plan.use"
        ? { automationProfile, executionActor: actor, budget }
        : {};
  // The schema of the operation judges it.
  return { ...input, ...chosen } as InputOf<MarkedTool["operation"]>;
}

async function decided(
  tool: MarkedTool,
  input: Input,
  client: RequestClient,
  parts: CallParts,
): Promise<ToolAnswer | InputRequiredResult> {
  const notes: string[] = [];
  const call = callOf(client, notes);
  const outcome = await approved(input, { agents: parts.agents, tool, client, call });
  if ("form" in outcome) return outcome.form;
  const { output } = outcome;
  if (isCancelled(output)) parts.runningPlans.of(output.planId)?.stop.abort();
  return answerOf(tool, { output, notes, ...planOf(input) }, parts);
}

function isCancelled(output: unknown): output is OutputOf<"plan.cancel"> {
  return typeof output === "object" && output !== null && "cancelledAt" in output;
}

async function begun(tool: MarkedTool, input: Input, client: RequestClient, parts: CallParts): Promise<ToolAnswer> {
  const { agents, runningPlans } = parts;
  const { waitSeconds, ...rest } = input;
  if (typeof rest["plan"] === "string") {
    const { planId } = await agents.run("plan.status", { plan: rest["plan"], ...directoryOf(rest) });
    runningPlans.requireFree(planId);
  }
  const running = await runningPlans.begin(tool.operation, withOptions(tool, rest, parts), client.tell);
  return standing(tool, { running, plan: String(running.plan), seconds: Number(waitSeconds ?? 0) }, client, parts);
}

async function waited(tool: MarkedTool, input: Input, client: RequestClient, parts: CallParts): Promise<ToolAnswer> {
  const { timeoutSeconds = DEFAULT_SECONDS, plan } = input;
  const { planId } = await parts.agents.run("plan.status", {
    ...(typeof plan === "string" ? { plan } : {}),
    ...directoryOf(input),
  });
  const running = parts.runningPlans.of(planId);
  return standing(tool, { running, plan: planId, seconds: Number(timeoutSeconds) }, client, parts);
}

/** Below the time after which clients give up. */
const DEFAULT_SECONDS = 30;

function directoryOf({ directory }: Input): { readonly directory?: string } {
  return typeof directory === "string" ? { directory } : {};
}

/**
 * The plan after its work has stopped, or the time is over. Work of this process knows its own end: between two phases
 * of a plan there are moments in which the store shows no one at work.
 */
async function standing(
  tool: MarkedTool,
  {
    running,
    plan,
    seconds,
  }: { readonly running: RunningPlan | undefined; readonly plan: string; readonly seconds: number },
  client: RequestClient,
  parts: CallParts,
): Promise<ToolAnswer> {
  const isOwn = running !== undefined && !running.isOver;
  if (isOwn) await endOf(running, seconds, client);
  const timeoutSeconds = isOwn ? 0 : seconds;
  const { signal } = client;
  const facts = await parts.agents.run("plan.await", { plan, timeoutSeconds }, { signal, tell: client.tell });
  const output: OutputOf<"plan.await"> = { ...facts, timedOut: facts.timedOut || running?.isOver === false };
  const failure = running?.failure === undefined ? [] : [`The work ended: ${errorText(running.failure, parts)}`];
  return answerOf(tool, { output, notes: [...(running?.notices ?? []), ...failure], plan }, parts);
}

async function endOf(running: RunningPlan, seconds: number, client: RequestClient): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, client.signal]);
  running.listeners.add(client.tell);
  try {
    await Promise.race([running.ended, sleep(seconds * 1_000, undefined, { signal }).catch(() => undefined)]);
  } finally {
    over.abort();
    running.listeners.delete(client.tell);
  }
}
