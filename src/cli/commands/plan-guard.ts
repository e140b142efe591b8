import { UsageError } from "../../domain/errors.ts";
import { callsOf, type Guards } from "../../domain/guards.ts";
import type { GuardReport } from "../../plans/guard-service.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { count, instant } from "../format.ts";
import { info, type Message, type Outcome } from "../outcome.ts";
import { toned, type Cell } from "../view.ts";
import { guardData } from "./automation-profile.ts";

/** Shows what holds a plan back and how much of it is used up; with flags, tightens it or approves what waits. */
export async function planGuard(context: CommandContext, input: Input): Promise<Outcome> {
  const { id } = await (await context.plans()).getPlan(input.argument(0));
  const service = await context.guards();
  const by = {
    denied: input.texts("denyTool"),
    maxToolCalls: limitOf(input, "maxCalls", "--max-calls"),
    maxToolCallsPerStep: limitOf(input, "maxCallsPerStep", "--max-calls-per-step"),
  };
  const messages: Message[] = [];
  if (by.denied.length > 0 || by.maxToolCalls !== undefined || by.maxToolCallsPerStep !== undefined) {
    await service.tighten(id, by);
    messages.push(...info(`The guards of plan ${id} are tighter from the next tool call on.`));
  }
  let allowed: string[] = [];
  if (input.flag("allowWrites")) {
    allowed = await service.allowWrites(id);
    messages.push(...info(`${count(allowed.length, "step")} may write: ${allowed.join(", ")}.`));
  }
  if (input.flag("allowApply")) {
    await service.allowApply(id);
    messages.push(...info(`What plan ${id} made may be applied.`));
  }
  const report = await service.report(id);
  const waiting = report.approvals.filter(({ approvedAt }) => approvedAt === undefined);
  const next = nextOf(report, { allowed, applied: input.flag("allowApply"), waiting: waiting.length });
  return { data: data(report, allowed, next), view: [view(report)], messages, next };
}

function limitOf(input: Input, name: string, flag: string): number | undefined {
  const text = input.text(name);
  if (text === undefined) return undefined;
  const value = /^\d{1,7}$/.test(text) ? Number(text) : undefined;
  if (value !== undefined && value <= 1_000_000) return value;
  throw new UsageError(`${flag} takes a number from 0 to 1000000, not "${text}".`, { kept: "Nothing was changed." });
}

function nextOf(
  { plan }: GuardReport,
  done: { readonly allowed: readonly string[]; readonly applied: boolean; readonly waiting: number },
): string[] {
  if (done.applied) return [`agents plan apply ${plan.id}`];
  if (done.allowed.length > 0) return [`agents plan execute ${plan.id}`];
  if (done.waiting > 0) return [`agents plan guard ${plan.id} --allow-writes`];
  return [`agents plan status ${plan.id}`];
}

function data(report: GuardReport, allowed: readonly string[], next: readonly string[]): Record<string, unknown> {
  const { plan, guards, calls, refused, approvals } = report;
  return {
    plan_id: plan.id,
    profile: plan.profile.name,
    profile_source: plan.profileSource,
    guards: guardData(guards),
    profile_guards: guardData(plan.profile.guards),
    used: {
      tool_calls: callsOf("*", calls),
      by_tool: Object.fromEntries(calls),
      by_limit: Object.fromEntries(
        Object.keys(guards.maxCallsPerTool).map((pattern) => [pattern, callsOf(pattern, calls)]),
      ),
      refused,
    },
    approvals: approvals.map(({ subject, askedAt, approvedAt, approvedBy }) => ({
      subject,
      asked_at: instant(askedAt),
      approved_at: approvedAt === undefined ? null : instant(approvedAt),
      approved_by: approvedBy ?? null,
    })),
    allowed_steps: allowed,
    next_steps: next,
  };
}

function view({ plan, guards, calls, refused, approvals }: GuardReport) {
  const waiting = approvals.filter(({ approvedAt }) => approvedAt === undefined).map(({ subject }) => subject);
  const rows: (readonly [string, Cell])[] = [
    ["profile", `${plan.profile.name} (${plan.profileSource})`],
    ["denied tools", guards.toolDenylist.join(", ") || "none"],
    ["allowed tools", guards.toolAllowlist?.join(", ") ?? "all that are not denied"],
    ["calls", used(callsOf("*", calls), guards.maxToolCalls)],
    ...Object.entries(guards.maxCallsPerTool).map(
      ([pattern, limit]) => [`  ${pattern}`, used(callsOf(pattern, calls), limit)] as const,
    ),
    [
      "calls in a step",
      guards.maxToolCallsPerStep === undefined ? "no limit" : `at most ${guards.maxToolCallsPerStep}`,
    ],
    ["refused", refused === 0 ? "none" : toned(count(refused, "call"), "warn")],
    ["writes", approvalText(guards)],
    ...(waiting.length === 0 ? [] : [["waits for you", toned(waiting.join(", "), "warn")] as const]),
  ];
  return { kind: "fields", title: `Guards of plan ${plan.id}`, rows } as const;
}

function used(calls: number, limit: number | undefined): string {
  return limit === undefined ? `${calls}, no limit` : `${calls} of ${limit}`;
}

function approvalText({ requireApprovalForWrites: asks }: Guards): string {
  return asks ? "each step waits until you allow it" : "as the step needs";
}
