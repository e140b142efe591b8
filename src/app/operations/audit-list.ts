import * as z from "zod";
import { listAudit, type AuditRow } from "../../store/tables/audit.ts";
import { defineOperation } from "../base/operation.ts";
import { Instant, instant, Json } from "../base/schemas.ts";
import { planMeant } from "../queries/plan-meant.ts";

export const operation = defineOperation({
  input: z.strictObject({ plan: z.string().optional(), limit: z.int().min(1).max(100_000).default(50) }),
  output: z.strictObject({
    entries: z.array(
      z.strictObject({
        id: z.string(),
        sequence: z.int(),
        at: Instant,
        type: z.string(),
        planId: z.string().nullable(),
        position: z.int(),
        user: z.string(),
        status: z.string().nullable(),
        details: Json,
        previousHash: z.string(),
        hash: z.string(),
      }),
    ),
    filters: z.strictObject({ plan: z.string().nullable() }),
    summary: z.strictObject({ shown: z.int() }),
  }),
  run: async (app, { plan, limit }, call) => {
    const chain =
      plan === undefined ? undefined : (await planMeant(app, { plan }, { operation: "audit.list" }, call)).id;
    const rows = await (await app.store()).read((reader) => listAudit(reader, limit, chain));
    return {
      entries: rows.map((row) => ({
        id: row.id,
        sequence: row.sequence,
        at: instant(row.at),
        type: row.type,
        planId: planOf(row) ?? null,
        position: row.position,
        user: row.user_name,
        status: row.status,
        details: Json.parse(JSON.parse(row.details)),
        previousHash: row.previous_hash,
        hash: row.hash,
      })),
      filters: { plan: chain ?? null },
      summary: { shown: rows.length },
    };
  },
});

/** An entry of the system's chain may be about a plan all the same. */
function planOf({ chain, details }: Pick<AuditRow, "chain" | "details">): string | undefined {
  if (chain !== "system") return chain;
  const { plan_id: planId } = JSON.parse(details) as { plan_id?: unknown };
  return typeof planId === "string" ? planId : undefined;
}
