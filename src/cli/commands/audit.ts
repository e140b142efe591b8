import { AuditBrokenError } from "../../domain/errors.ts";
import type { AuditRow } from "../../store/audit.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { count, instant, shortInstant } from "../format.ts";
import { print } from "../gate.ts";
import { info, type Outcome } from "../outcome.ts";
import { parseLimit } from "./plan-list.ts";

export async function auditList(context: CommandContext, input: Input): Promise<Outcome> {
  const { listAudit } = await import("../../store/audit.ts");
  const wanted = input.text("plan");
  const chain = wanted === undefined ? undefined : (await (await context.plans()).getPlan(wanted)).id;
  const limit = parseLimit(input.text("limit"), 50);
  const rows = await (await context.store()).read((reader) => listAudit(reader, limit, chain));
  return {
    data: {
      entries: rows.map((row) => ({
        id: row.id,
        sequence: row.sequence,
        at: instant(row.at),
        type: row.type,
        plan_id: planOf(row) ?? null,
        position: row.position,
        user: row.user_name,
        status: row.status,
        details: JSON.parse(row.details) as unknown,
        previous_hash: row.previous_hash,
        hash: row.hash,
      })),
      filters: { plan: chain ?? null },
      summary: { shown: rows.length },
    },
    view: [
      {
        kind: "table",
        title: "Audit log",
        columns: [{ keep: "When (UTC)" }, "What", { keep: "Plan" }, "Result", "User"],
        rows: rows.map((row) => [
          shortInstant(row.at),
          row.type,
          planOf(row) ?? "-",
          row.status ?? summary(row.details),
          row.user_name,
        ]),
        empty: "No entries.",
      },
    ],
    messages: info(`${count(rows.length, "entry", "entries")} listed.`),
  };
}

/** What is in the system's chain may be about a plan all the same. */
function planOf({ chain, details }: Pick<AuditRow, "chain" | "details">): string | undefined {
  if (chain !== "system") return chain;
  const { plan_id: planId } = JSON.parse(details) as { plan_id?: unknown };
  return typeof planId === "string" ? planId : undefined;
}

function summary(details: string): string {
  const values = Object.values(JSON.parse(details) as Record<string, unknown>);
  return values.filter((value) => typeof value === "string").join(" ");
}

export async function auditVerify(context: CommandContext, input: Input): Promise<Outcome> {
  const { verifyAudit } = await import("../../store/audit-verify.ts");
  const store = await context.store();
  const stopProgress = progress("checking the audit log");
  const expect = input.text("expect");
  const { problem, sinceExpected, ...found } = await verifyAudit(store, { expect, at: Date.now() }).finally(
    stopProgress,
  );
  if (problem !== undefined) {
    const { message, ...where } = problem;
    throw new AuditBrokenError(message, {
      kept: "The log was left as it is; nothing was sealed over it.",
      detail: { ...where, checked_entries: found.entries },
      next: ["agents audit list", "compare with a backup of the database"],
    });
  }
  return {
    data: {
      verified: true,
      ...found,
      head: found.head ?? null,
      entries_since_expected: sinceExpected ?? null,
      not_checked: [...NOT_CHECKED],
    },
    view: [
      {
        kind: "fields",
        title: "Audit log",
        rows: [
          ["entries", String(found.entries)],
          ["chains", String(found.chains)],
          ["seals", String(found.seals)],
          ["head", found.head ?? "(empty)"],
        ],
      },
    ],
    messages: [
      ...info("The entries of the audit log are unchanged, and the state of every plan agrees with them."),
      ...info(sealed(sinceExpected)),
      ...info(`Not checked, because it is kept beside the log: ${NOT_CHECKED.join(", ")}.`),
    ],
    ...(found.head === undefined ? {} : { next: [`agents audit verify --expect ${found.head}   # later`] }),
  };
}

/** What the entries do not tell of, and a change of which therefore goes unnoticed. */
const NOT_CHECKED = [
  "what plans decided",
  "the tools they called",
  "the changes they recorded",
  "the models they asked and what that cost",
] as const;

/** An earlier head vouches for what was sealed under it; a log that was rewritten as a whole verifies without one. */
function sealed(sinceExpected: number | undefined): string {
  if (sinceExpected === undefined)
    return "Only a head that was kept elsewhere (--expect) shows whether all of it was replaced.";
  const since =
    sinceExpected === 0 ? "" : ` It says nothing about the ${count(sinceExpected, "entry", "entries")} since.`;
  return `Nothing was taken out of or put into the log before the expected head.${since}`;
}

/** On a terminal, says after a second that something is still going on. */
function progress(what: string): () => void {
  if (!process.stderr.isTTY) return () => undefined;
  const begun = Date.now();
  const timer = setInterval(() => {
    print(process.stderr, [{ move: "line start" }, `${what} … ${Math.round((Date.now() - begun) / 1000)} s `]);
  }, 1000);
  return () => {
    clearInterval(timer);
    if (Date.now() - begun >= 1000) print(process.stderr, [{ move: "line start" }, { move: "erase line" }]);
  };
}
