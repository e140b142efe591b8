/**
 * A yes that changes the user's files or ends a plan. It is given for one version of the plan: by the user in a form of
 * the client, which comes back with a state that we signed, or by the agent in its arguments, which says that its user
 * agreed. An operation holds on to that version and refuses when the plan has changed since. A profile that wants a
 * person's approval takes only the form for one.
 */
import type { InputRequiredResult } from "@modelcontextprotocol/server";
import type { Question, Shown } from "../app/base/call.ts";
import type { LandingPreview } from "../app/queries/landing-facts.ts";
import type { CallOptions, CleverAgents } from "../app/open.ts";
import type { OutputOf } from "../app/table/operation-table.ts";
import { AgentsError, ConflictError, UsageError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type * as z from "zod";
import type { MarkedTool } from "./marked-tools.ts";

/** The key of the form's answer. */
const FORM = "approve";

/** Signed, and sent along with the form. */
export interface SeenApproval {
  readonly tool: string;
  readonly plan: string;
  readonly version: number;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The client of one call, as far as it can show a form to its user. */
export interface FormClient {
  readonly canAsk: boolean;
  /** The verified state that came back. */
  readonly approval: SeenApproval | undefined;
  /** The answer to the form; undefined when none came. */
  readonly answer: (key: string) => { readonly isYes: boolean } | undefined;
  readonly form: (key: string, text: string, approval: SeenApproval) => Promise<InputRequiredResult>;
}

export interface ApprovalParts {
  readonly agents: CleverAgents;
  readonly tool: MarkedTool;
  readonly client: FormClient;
  readonly call: CallOptions;
}

/** The output of the operation, or the form that the user answers first. */
export type Approved = { readonly output: unknown } | { readonly form: InputRequiredResult };

type Input = Readonly<Record<string, unknown>>;

export async function approved(given: Input, parts: ApprovalParts): Promise<Approved> {
  const { tool, client, agents } = parts;
  const { approve, ...input } = given;
  const { plan: named, directory, expectedVersion } = input;
  const place = typeof directory === "string" ? { directory } : {};
  const status = await agents.run("plan.status", { plan: String(named), ...place });
  const { approval } = client;
  const answer = approval?.tool === tool.name && approval.plan === status.planId ? client.answer(FORM) : undefined;
  if (approval !== undefined && answer !== undefined) {
    if (!answer.isYes) throw declinedError(status);
    requireSeen(status, approval.version);
    return { output: await carriedOut(approval.input, "person", parts) };
  }
  if (approve === true && expectedVersion === undefined) throw versionMissingError(tool, status);
  if (expectedVersion !== undefined) requireSeen(status, Number(expectedVersion));
  const seen = { ...input, plan: status.planId, expectedVersion: status.version };
  if (approve === true) return { output: await carriedOut(seen, "program", parts) };
  return asked(seen, status, parts);
}

/** The question of the operation, for the client's form or for the agent. An operation that asks nothing is done. */
async function asked(input: Input, status: OutputOf<"plan.status">, parts: ApprovalParts): Promise<Approved> {
  const { tool, client } = parts;
  const questions = tool.mark.question === undefined ? [] : [tool.mark.question];
  if (questions.length === 0) {
    const output = await carriedOut(input, "person", parts, (question) => questions.push(...questionText(question)));
    if (questions.length === 0) return { output };
  }
  const { planId, description, version } = status;
  const text = [`Plan ${planId}: ${description.split("\n", 1).join("")}`, ...questions].join("\n");
  if (!client.canAsk) throw approvalNeededError(text, { tool, status });
  return { form: await client.form(FORM, text, { tool: tool.name, plan: planId, version, input }) };
}

/** With `onQuestion` the answer to every question is no. */
function carriedOut(
  input: Input,
  answers: "person" | "program",
  { agents, tool, call }: ApprovalParts,
  onQuestion?: (question: Question) => void,
): Promise<unknown> {
  return agents.run(tool.operation, input, {
    ...call,
    answers,
    ask: (question) => {
      onQuestion?.(question);
      return Promise.resolve({ kind: onQuestion === undefined ? "yes" : "no" });
    },
  });
}

/** With the files that would be written. */
function questionText(question: Question): string[] {
  return [question.text, ...(question.kind === "confirm" ? question.shown.flatMap(previewText) : [])];
}

function previewText({ kind, output }: Shown): string[] {
  if (kind !== "landings") return [];
  const { landings, held, conflicts } = output as z.output<typeof LandingPreview>;
  return [
    ...landings.map(
      ({ path, branch, files }) => `${path}${branch === null ? "" : ` (${branch})`}: ${files.join(", ")}`,
    ),
    ...held.map(({ path, plans }) => `stays: ${path}, which plan ${plans.join(", plan ")} made too`),
    ...conflicts.map(({ path, why }) => `conflict: ${path} ${why}`),
  ];
}

/** Says what the plan is now, so that its agent looks again before it asks again. */
function requireSeen(status: OutputOf<"plan.status">, version: number): void {
  if (status.version === version) return;
  const { planId, standing, attempt, execution } = status;
  throw new ConflictError(
    `The plan ${planId} has changed since version ${version}: it is now at version ${status.version}, ${standing}, ` +
      `attempt ${attempt}, with ${execution.changes} recorded ${execution.changes === 1 ? "change" : "changes"}.`,
    { expected: { version }, actual: { version: status.version, standing } },
    { kept: "Nothing was changed.", next: [nextStep("plan.diff", { plan: planId })] },
  );
}

function declinedError({ planId }: OutputOf<"plan.status">): AgentsError {
  return new AgentsError("approval_needed", "The user said no.", {
    kept: "Nothing was changed.",
    next: [nextStep("plan.prompt", { plan: planId, text: "<what should be different>" })],
  });
}

function versionMissingError({ name }: MarkedTool, { planId }: OutputOf<"plan.status">): UsageError {
  return new UsageError(`Give expected_version: the version of plan ${planId} that the user said yes to.`, {
    kept: "Nothing was changed.",
    next: [nextStep("plan.diff", { plan: planId }), { text: `${name} without approve tells the version too` }],
  });
}

function approvalNeededError(
  question: string,
  { tool, status }: { readonly tool: MarkedTool; readonly status: OutputOf<"plan.status"> },
): AgentsError {
  const { planId, version } = status;
  const again = JSON.stringify({ plan: planId, approve: true, expected_version: version });
  return new AgentsError("approval_needed", question, {
    kept: "Nothing was changed.",
    next: [{ text: `ask the user; after a yes: ${tool.name} ${again}` }],
    detail: { plan: planId, version },
  });
}
