/**
 * Guards, checked in the transaction that puts a call on record. Nothing is counted in memory: the calls on record are
 * the count, so it is the same for steps that run side by side, for several processes, and after a crash.
 */
import { keptProfile, type AutomationProfile } from "../domain/profile/automation-profile.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import {
  hasLimits,
  judgeCall,
  tightened,
  type CallCounts,
  type Guards,
  type Refusal,
  type Tightening,
} from "../domain/profile/guards.ts";
import { guardedTool } from "../domain/profile/outside-tools.ts";
import type { InvocationId, PlanId } from "../domain/names/ids.ts";
import { lastMover } from "../store/tables/audit.ts";
import type { Reader, Tx } from "../store/port.ts";
import { recordSystemEvent } from "./system-events.ts";
import { chosenText, toolText, type CallStart } from "./invocations.ts";

export interface PlanGuards {
  readonly profile: AutomationProfile;
  /** The guards of the profile, with all that was tightened since. */
  readonly guards: Guards;
  readonly attempt: number;
  readonly version: number;
}

export async function findPlanGuards(reader: Reader, planId: PlanId): Promise<PlanGuards | undefined> {
  const row = await reader.get<{ profile: string; attempt: number; version: number }>(
    "SELECT profile, attempt, version FROM plans WHERE id = ?",
    planId,
  );
  if (row === undefined) return undefined;
  const profile = keptProfile(row.profile);
  return {
    profile,
    guards: tightened(profile.guards, await findTightening(reader, planId)),
    attempt: row.attempt,
    version: row.version,
  };
}

async function findTightening(reader: Reader, planId: PlanId): Promise<Tightening> {
  const rows = await reader.all<{ guard: string; value: string }>(
    "SELECT guard, value FROM plan_guards WHERE plan_id = ? ORDER BY guard, value",
    planId,
  );
  const number = (guard: string): number | undefined => {
    const row = rows.find((one) => one.guard === guard);
    return row === undefined ? undefined : Number(row.value);
  };
  return {
    denied: rows.flatMap(({ guard, value }) => (guard === "tool_denylist" ? [value] : [])),
    maxToolCalls: number("max_tool_calls"),
    maxToolCallsPerStep: number("max_tool_calls_per_step"),
  };
}

/** Adds to the denied tools, or replaces an earlier number. */
export async function tighten(tx: Tx, planId: PlanId, by: Tightening): Promise<void> {
  const put = (guard: string, value: string): Promise<number> =>
    tx.run(
      "INSERT INTO plan_guards (plan_id, guard, value) VALUES (?, ?, ?) ON CONFLICT (plan_id, guard, value) DO NOTHING",
      planId,
      guard,
      value,
    );
  for (const pattern of by.denied) await put("tool_denylist", pattern);
  for (const [guard, value] of [
    ["max_tool_calls", by.maxToolCalls],
    ["max_tool_calls_per_step", by.maxToolCallsPerStep],
  ] as const) {
    if (value === undefined) continue;
    await tx.run("DELETE FROM plan_guards WHERE plan_id = ? AND guard = ?", planId, guard);
    await put(guard, String(value));
  }
}

/** A call that a guard refused; the error is thrown once the refusal is on record. */
export interface RefusedCall extends Refusal {
  readonly error: AgentsError;
}

/** The reason to refuse the call, if there is one; asked before the call itself is on record. */
export async function judge(
  tx: Tx,
  found: PlanGuards,
  planId: PlanId,
  call: CallStart & { readonly guarded: NonNullable<CallStart["guarded"]> },
): Promise<RefusedCall | undefined> {
  const { profile, guards, attempt } = found;
  const { step, writes, within = false } = call.guarded;
  const counts: CallCounts = {
    ...(hasLimits(guards) ? await countCalls(tx, planId, attempt, step) : NO_CALLS),
    // Tests that fail until the code is right are the way of working within a step; its own limits end that.
    failed: within ? 0 : await countFailures(tx, call),
  };
  const approved = !guards.requireApprovalForWrites || (await isApproved(tx, planId, attempt, writesOf(step)));
  const rules = { guards, maxRetriesPerStep: profile.maxRetriesPerStep };
  const refusal = judgeCall({ tool: guardedTool(call.tool).tool, step, writes }, rules, counts, approved);
  return refusal === undefined ? undefined : { ...refusal, error: refusedError(planId, profile, call, refusal) };
}

const NO_CALLS = { tools: new Map<string, number>(), step: 0 } as const;

/**
 * The calls that were let through: of the plan in all its attempts, and of one step in this attempt as far as they
 * count.
 */
export async function countCalls(
  reader: Reader,
  planId: PlanId,
  attempt: number,
  step?: string,
): Promise<Pick<CallCounts, "tools" | "step">> {
  const rows = await reader.all<{ tool: string; calls: number; own: number }>(
    `SELECT tool, COUNT(*) AS calls,
            SUM(CASE WHEN attempt = ? AND step = ? AND superseded_at IS NULL THEN 1 ELSE 0 END) AS own
       FROM tool_invocations WHERE plan_id = ? AND step IS NOT NULL AND refused_by IS NULL GROUP BY tool`,
    attempt,
    step ?? "",
    planId,
  );
  const tools = new Map<string, number>();
  for (const { tool, calls } of rows)
    tools.set(guardedTool(tool).tool, (tools.get(guardedTool(tool).tool) ?? 0) + calls);
  return {
    tools,
    step: rows.reduce((total, { own }) => total + own, 0),
  };
}

/** How many calls of the plan were refused by a guard, in all its attempts. */
export async function countRefusals(reader: Reader, planId: PlanId): Promise<number> {
  const row = await reader.get<{ refused: number }>(
    "SELECT COUNT(*) AS refused FROM tool_invocations WHERE plan_id = ? AND refused_by IS NOT NULL",
    planId,
  );
  return row?.refused ?? 0;
}

/**
 * How often this very call failed: the same tool with the same parameters, for the same decision. Answered by an index
 * of failed calls alone: parameters are long, and reading past those of a thousand calls took 20 ms.
 */
async function countFailures(tx: Tx, call: CallStart): Promise<number> {
  const { chosen, params } = chosenText(call);
  const row = await tx.get<{ failures: number }>(
    `SELECT COUNT(*) AS failures FROM tool_invocations JOIN decisions ON decisions.id = tool_invocations.decision_id
      WHERE decision_id = ? AND tool = ? AND outcome = 'failed' AND refused_by IS NULL
        AND COALESCE(parameters, '') = CASE WHEN chosen = ? THEN '' ELSE ? END`,
    call.decision,
    toolText(call),
    chosen,
    params,
  );
  return row?.failures ?? 0;
}

function refusedError(planId: PlanId, profile: AutomationProfile, call: CallStart, refusal: Refusal): AgentsError {
  const { guard, reason, limit } = refusal;
  const detail = {
    guard,
    tool: call.tool,
    step: call.guarded?.step,
    profile: profile.name,
    ...(limit === undefined ? {} : { limit }),
  };
  if (guard === "require_approval_for_writes") {
    return new AgentsError("approval_needed", reason, {
      kept: "Nothing was changed by it; earlier steps are kept.",
      next: [
        nextStep("plan.guard", { plan: planId, allowWrites: true }),
        nextStep("plan.execute", { plan: planId }, "then"),
      ],
      detail,
    });
  }
  return new AgentsError("guard_refused", `${reason} (${guard} of the plan's profile "${profile.name}")`, {
    kept: "Nothing was changed by it; earlier steps are kept.",
    next: [
      nextStep("plan.guard", { plan: planId }),
      guard === "max_retries_per_step"
        ? nextStep("plan.revert", { plan: planId })
        : nextStep("plan.use", { automationProfile: "<profile>" }, "make another plan with another profile"),
    ],
    detail,
  });
}

/** Puts a refusal on record besides its invocation: for subscribers and for the audit log. */
export async function recordRefusal(
  tx: Tx,
  refused: { readonly planId: PlanId; readonly found: PlanGuards; readonly call: CallStart; readonly refusal: Refusal },
): Promise<void> {
  const { planId, found, call, refusal } = refused;
  if (refusal.guard === "require_approval_for_writes") {
    await askApproval(tx, planId, found.attempt, writesOf(call.guarded?.step ?? ""));
  }
  await recordSystemEvent(tx, {
    type: "guard.refused",
    // No person refused it: the entry names the user who made the plan's last transition.
    user: await lastMover(tx, planId, found.version),
    planId,
    details: {
      guard: refusal.guard,
      tool: call.tool,
      step: call.guarded?.step ?? null,
      invocation: call.id satisfies InvocationId,
      reason: refusal.reason,
    },
  });
}

/** The subject of the approval by which a person allows a step to write. */
function writesOf(step: string): string {
  return `writes:${step}`;
}

async function askApproval(tx: Tx, planId: PlanId, attempt: number, subject: string): Promise<void> {
  await tx.run(
    `INSERT INTO plan_approvals (sequence, plan_id, attempt, subject, asked_at)
     SELECT COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, now_ms() FROM plan_approvals WHERE plan_id = ?
     ON CONFLICT (plan_id, attempt, subject) DO NOTHING`,
    planId,
    attempt,
    subject,
    planId,
  );
}

export async function isApproved(reader: Reader, planId: PlanId, attempt: number, subject: string): Promise<boolean> {
  const row = await reader.get(
    "SELECT 1 FROM plan_approvals WHERE plan_id = ? AND attempt = ? AND subject = ? AND approved_at IS NOT NULL",
    planId,
    attempt,
    subject,
  );
  return row !== undefined;
}

export interface Approval {
  readonly subject: string;
  readonly askedAt: number;
  readonly approvedAt: number | undefined;
  readonly approvedBy: string | undefined;
}

export async function findApprovals(reader: Reader, planId: PlanId, attempt: number): Promise<Approval[]> {
  const rows = await reader.all<{
    subject: string;
    asked_at: number;
    approved_at: number | null;
    approved_by: string | null;
  }>(
    `SELECT subject, asked_at, approved_at, approved_by FROM plan_approvals WHERE plan_id = ? AND attempt = ?
      ORDER BY sequence`,
    planId,
    attempt,
  );
  return rows.map((row) => ({
    subject: row.subject,
    askedAt: row.asked_at,
    approvedAt: row.approved_at ?? undefined,
    approvedBy: row.approved_by ?? undefined,
  }));
}

/**
 * Allows the writes that wait for approval now and no others; of any number of people at once one allows them, the
 * others find none waiting.
 */
export async function approveWrites(tx: Tx, planId: PlanId, attempt: number, user: string): Promise<string[]> {
  const rows = await tx.all<{ subject: string }>(
    `UPDATE plan_approvals SET approved_at = now_ms(), approved_by = ?
      WHERE plan_id = ? AND attempt = ? AND approved_at IS NULL AND subject LIKE 'writes:%' RETURNING subject`,
    user,
    planId,
    attempt,
  );
  return rows.map(({ subject }) => subject.slice(writesOf("").length)).sort();
}

/** Allows a result to be applied; false when it was allowed before. */
export async function approveResult(
  tx: Tx,
  planId: PlanId,
  attempt: number,
  approval: { readonly subject: string; readonly user: string },
): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO plan_approvals (sequence, plan_id, attempt, subject, asked_at, approved_at, approved_by)
     SELECT COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, now_ms(), now_ms(), ? FROM plan_approvals WHERE plan_id = ?
     ON CONFLICT (plan_id, attempt, subject) DO NOTHING`,
    planId,
    attempt,
    approval.subject,
    approval.user,
    planId,
  );
  return inserted === 1;
}
