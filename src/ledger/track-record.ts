/**
 * How operations ended before, read from the records that exist anyway: plans and their failures, tool calls and their
 * outcomes. No second count of successes exists that could disagree with them.
 */
import type { Plan } from "../domain/plan/plan.ts";
import { nameKey, type QualifiedName } from "../domain/names/qualified-name.ts";
import type { Phase } from "../domain/plan/transitions.ts";
import type { Reader } from "../store/port.ts";

export type OperationType =
  | { readonly kind: "tool"; readonly tool: string }
  | { readonly kind: "phase"; readonly phase: Exclude<Phase, "apply">; readonly action: QualifiedName };

/** Only the latest outcomes count: older ones say little. */
const RECENT = 50;

/** This many applied plans make a project familiar. */
const FAMILIAR_AFTER = 5;

/** Two outcomes are added, one of each kind: a new operation has 0.5, and one failure does not decide. */
export async function successRate(reader: Reader, operation: OperationType): Promise<number> {
  const { total, good } = await outcomes(reader, operation);
  return (good + 1) / (total + 2);
}

async function outcomes(reader: Reader, operation: OperationType): Promise<{ total: number; good: number }> {
  const row =
    operation.kind === "tool"
      ? await reader.get<{ total: number; good: number }>(
          `SELECT COUNT(*) AS total, COALESCE(SUM(CASE WHEN outcome = 'ok' THEN 1 ELSE 0 END), 0) AS good
             FROM (SELECT outcome FROM tool_invocations WHERE tool = ? AND outcome IS NOT NULL AND refused_by IS NULL
                    ORDER BY sequence DESC LIMIT ?) AS recent`,
          operation.tool,
          RECENT,
        )
      : await phaseOutcomes(reader, operation.phase, operation.action);
  return row ?? { total: 0, good: 0 };
}

/** A plan whose phase ended counts; it went well when nothing stopped it there on the way. */
async function phaseOutcomes(
  reader: Reader,
  phase: "strategize" | "execute",
  action: QualifiedName,
): Promise<{ total: number; good: number } | undefined> {
  return reader.get<{ total: number; good: number }>(
    `SELECT COUNT(*) AS total, COALESCE(SUM(1 - failed), 0) AS good FROM (
       SELECT CASE WHEN EXISTS (SELECT 1 FROM plan_failures WHERE plan_failures.plan_id = plans.id AND plan_failures.phase = ?)
              THEN 1 ELSE 0 END AS failed
         FROM plans WHERE action_key = ? AND ${phase}_ended_at IS NOT NULL ORDER BY sequence DESC LIMIT ?) AS recent`,
    phase,
    nameKey(action),
    RECENT,
  );
}

/**
 * From 0 to 1 by the number of plans that were applied to the plan's projects and not undone; the least known project
 * decides.
 */
export async function familiarity(reader: Reader, plan: Plan): Promise<number> {
  let least = FAMILIAR_AFTER;
  for (const { project } of plan.projects) {
    const row = await reader.get<{ applied: number }>(
      `SELECT COUNT(*) AS applied FROM (
         SELECT 1 FROM plan_projects JOIN plans ON plans.id = plan_projects.plan_id
          WHERE plan_projects.project_key = ? AND plans.state = 'applied' AND plans.undone_at IS NULL LIMIT ?) AS known`,
      nameKey(project),
      FAMILIAR_AFTER,
    );
    least = Math.min(least, row?.applied ?? 0);
  }
  return plan.projects.length === 0 ? 0 : least / FAMILIAR_AFTER;
}
