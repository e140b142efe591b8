import type { OutputOf } from "../../app/table/operation-table.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned, type Cell, type Element } from "../terminal/view.ts";

type Output = OutputOf<"plan.guard">;

export const show: Show<"plan.guard"> = (output, { input }) => {
  const { planId, allowedSteps } = output;
  const { denyTools = [], maxCalls, maxCallsPerStep, allowWrites, allowApply } = input;
  const tightened = denyTools.length > 0 || maxCalls !== undefined || maxCallsPerStep !== undefined;
  return {
    view: [guardElement(output)],
    messages: [
      ...(tightened ? info(`The guards of plan ${planId} are tighter from the next tool call on.`) : []),
      ...(allowWrites === true
        ? info(`${count(allowedSteps.length, "step")} may write: ${allowedSteps.join(", ")}.`)
        : []),
      ...(allowApply === true ? info(`The changes of plan ${planId} may be applied.`) : []),
    ],
  };
};

function guardElement({ planId, profile, profileSource, guards, used, approvals }: Output): Element {
  const waiting = approvals.filter(({ approvedAt }) => approvedAt === null).map(({ subject }) => subject);
  const rows: (readonly [string, Cell])[] = [
    ["profile", `${profile} (${profileSource})`],
    ["denied tools", guards.toolDenylist.join(", ") || "none"],
    ["allowed tools", guards.toolAllowlist?.join(", ") ?? "all that are not denied"],
    ["calls", usedText(used.toolCalls, guards.maxToolCalls)],
    ...Object.entries(guards.maxCallsPerTool).map(
      ([pattern, limit]) => [`  ${pattern}`, usedText(used.byLimit[pattern] ?? 0, limit)] as const,
    ),
    ["calls in a step", guards.maxToolCallsPerStep === null ? "no limit" : `at most ${guards.maxToolCallsPerStep}`],
    ["refused", used.refused === 0 ? "none" : toned(count(used.refused, "call"), "warn")],
    ["writes", guards.requireApprovalForWrites ? "each step waits until you allow it" : "as the step needs"],
    ...(waiting.length === 0 ? [] : [["waits for you", toned(waiting.join(", "), "warn")] as const]),
  ];
  return { kind: "fields", title: `Guards of plan ${planId}`, rows };
}

function usedText(calls: number, limit: number | null): string {
  return limit === null ? `${calls}, no limit` : `${calls} of ${limit}`;
}
