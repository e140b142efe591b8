/**
 * One operation, called by a request. The table says who may call it and how its questions are answered: a request that
 * approves beforehand is a program that means its call; without that, an operation that must ask is refused with its
 * question and the preview, and nothing is changed.
 */
import * as z from "zod";
import type { Call, Question } from "../app/base/call.ts";
import { approveEverything } from "../app/base/call.ts";
import type { TableEntry } from "../app/base/operation.ts";
import type { CallOptions, CleverAgents } from "../app/open.ts";
import { OPERATIONS, type OperationName } from "../app/table/operation-table.ts";
import { wireFacts } from "../app/base/wire-event.ts";
import { fromWire } from "../app/base/wire-input.ts";
import { toWire } from "../app/base/wire.ts";
import { AwaitingInputError, ConflictError, AgentsError, UsageError } from "../domain/errors/errors.ts";
import type { RunEvent } from "../domain/run-event.ts";
import type { AnswerMessage } from "./envelope.ts";
import { isAllowed, type Bearer } from "./bearer.ts";
import { spellRequest } from "./spell.ts";

/** The keys of a request beside those of the operation. */
export const ApprovalKeys = {
  approve: z.boolean().optional(),
  seen_version: z.int().optional(),
} as const;

const Approval = z.object(ApprovalKeys);

export interface OperationResult {
  readonly data: unknown;
  readonly messages: readonly AnswerMessage[];
}

/** A viewer does not learn which inputs would be valid. */
export function requireAllowed(name: OperationName, { role }: Bearer): void {
  const entry: TableEntry = OPERATIONS[name];
  if (isAllowed(role, entry)) return;
  throw new AgentsError("not_allowed", `A token with the role ${role} may not call ${name}.`, {
    kept: "Nothing was changed.",
    next: [{ text: "use a token with another role; an owner of the server makes them" }],
    detail: { operation: name, role, needed: entry.role },
  });
}

export async function callOperation(
  agents: CleverAgents,
  name: OperationName,
  given: Readonly<Record<string, unknown>>,
  { bearer, signal }: { readonly bearer: Bearer; readonly signal: AbortSignal },
): Promise<OperationResult> {
  requireAllowed(name, bearer);
  const { approve, seen_version: seenVersion, ...rest } = given;
  const approval = Approval.safeParse({ approve, seen_version: seenVersion });
  if (!approval.success)
    throw new UsageError("approve must be true or false, and seen_version a whole number.", {
      kept: "Nothing was changed.",
    });
  const { operation } = await OPERATIONS[name].load();
  const input = fromWire(operation.input as z.ZodType, rest);
  const messages: AnswerMessage[] = [];
  const tell = (event: RunEvent): void => {
    if (event.type === "notice") messages.push({ level: event.level, text: event.text });
  };
  const options = optionsOf(OPERATIONS[name], approval.data);
  const call: CallOptions = { signal, tell, user: bearer.user, ...options };
  const output = await agents.run(name, input, call);
  return { data: toWire(operation.output as z.ZodType, output, spellRequest), messages };
}

/** How the questions of this call are answered. */
function optionsOf(
  entry: TableEntry,
  { approve, seen_version: seenVersion }: z.output<typeof Approval>,
): Pick<Call, "ask" | "answers" | "meant"> {
  let version: number | undefined;
  const meant: Call["meant"] = (plan) => {
    version = plan.version;
    if (seenVersion !== undefined && seenVersion !== plan.version) throw staleError(plan, seenVersion);
  };
  if (approve === true) return { ask: approveEverything, answers: "program", meant };
  if (entry.asks !== true || entry.stops === true)
    return { ask: () => Promise.resolve({ kind: "none" }), answers: "none", meant };
  const ask: Call["ask"] = (question) => {
    if (question.kind !== "confirm" && question.kind !== "choice") return Promise.resolve({ kind: "none" });
    throw unansweredError(question, version);
  };
  return { ask, answers: "person", meant };
}

function unansweredError(question: Question, version: number | undefined): AwaitingInputError {
  const shown = "shown" in question ? question.shown : [];
  return new AwaitingInputError(question.text, {
    kept: "Nothing was changed.",
    next: [
      {
        text: `repeat the request with "approve": true${version === undefined ? "" : ` and "seen_version": ${version}`}`,
      },
    ],
    detail: {
      question: question.kind,
      ...(version === undefined ? {} : { seen_version: version }),
      shown: shown.map(({ kind, output }) => ({ kind, output: wireFacts(output as object, spellRequest) })),
    },
  });
}

function staleError(plan: { readonly id: string; readonly version: number }, seen: number): ConflictError {
  return new ConflictError(
    `The plan ${plan.id} has changed since it was seen.`,
    { expected: { version: seen }, actual: { version: plan.version } },
    { kept: "Nothing was changed.", next: [{ text: "look at the plan again, and approve what it is now" }] },
  );
}
