import { ACTOR_ROLES, type Action } from "../../domain/action.ts";
import type { Plan } from "../../domain/plan.ts";
import { maskedText } from "../../store/masking.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { instant } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { planActivity } from "../../ledger/activity.ts";
import { readInPlace } from "./plan-data.ts";

export async function planCancel(context: CommandContext, input: Input): Promise<Outcome> {
  const service = await context.plans();
  const seen = await service.getPlan(input.argument(0));
  const reason = input.text("reason");
  const plan = await service.cancelPlan(seen.id, { reason });
  const activity = await (await context.store()).read((reader) => planActivity(reader, plan.id));
  const inPlace = activity.changes > 0 && plan.undoneAt === undefined ? (await readInPlace(context, plan)).where : "";
  const recovery = [
    ...(inPlace === "" ? [] : [`agents plan undo ${plan.id}`]),
    sameAgain(plan, await service.getAction(plan.action)),
  ];
  return {
    data: {
      plan_id: plan.id,
      phase: plan.phase,
      state: plan.state,
      reason: plan.cancelReason ?? null,
      cancelled_at: instant(plan.updatedAt),
      preserved: { steps: activity.steps, changesets: activity.changesets, changes: activity.changes },
      recovery,
    },
    view: [],
    messages: [
      ...info(`Plan ${plan.id} cancelled in ${plan.phase}; what it recorded is kept.`),
      ...(inPlace === "" ? [] : [{ level: "warning", text: `What it did in place is still in ${inPlace}.` } as const]),
    ],
    next: recovery,
  };
}

/** The command that makes the same plan anew, by the same actors: those of its action may be others. */
function sameAgain(plan: Plan, action: Action): string {
  const actors = ACTOR_ROLES.flatMap((role) => {
    const actor = plan.actors[role];
    return actor === undefined || actor === action.actors[role] ? [] : [`--${role}-actor`, actor];
  });
  const words = [
    ...plan.projects.map((link) => link.project),
    ...[...plan.arguments].flatMap(([name, value]) => [
      "--arg",
      maskedText(`${name}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`),
    ]),
    ...(plan.profileSource === "plan" ? ["--automation-profile", plan.profile.name] : []),
    ...actors,
  ];
  return `agents plan use ${plan.action} ${words.map(quoted).join(" ")}`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Acts on the plan as it was seen: when it moved on meanwhile, that is a conflict and not a second reversion. */
export async function planRevert(context: CommandContext, input: Input): Promise<Outcome> {
  const service = await context.plans();
  const seen = await service.getPlan(input.argument(0));
  const plan = await service.revertPlan(seen.id, { reason: input.text("reason"), expectedVersion: seen.version });
  return {
    data: {
      plan_id: plan.id,
      from: { phase: seen.phase, state: seen.state },
      phase: plan.phase,
      state: plan.state,
      attempt: plan.attempt,
      reversions: plan.reversionCount,
    },
    view: [],
    messages: info(`Plan ${plan.id} is back at strategize for attempt ${plan.attempt}.`),
    next: [`agents plan status ${plan.id}`],
  };
}
