/** The owner of the table `breakers`: the shared state of circuit breakers, by strategy and project. */
import type { Reader, Tx } from "../port.ts";

/** The state of one circuit as all processes know it: of a strategy, in a project. */
export interface BreakerRow {
  readonly strategy: string;
  readonly project: string;
  readonly phase: "closed" | "open" | "probing" | "ready";
  readonly failures: number;
  /** How often its cooldown has been doubled. */
  readonly step: number;
  /** Rises with every change of phase and every reset, so that late news can be told from news. */
  readonly generation: number;
  /** Rises with every change. */
  readonly version: number;
  /** When an open phase or the patience with a probe ends, by the database's clock; null for the others. */
  readonly ends_at: number | null;
  readonly changed_at: number;
}

export async function findBreakers(reader: Reader): Promise<BreakerRow[]> {
  return reader.all<BreakerRow>("SELECT * FROM breakers ORDER BY strategy, project");
}

export async function findBreaker(reader: Reader, strategy: string, project: string): Promise<BreakerRow | undefined> {
  return reader.get<BreakerRow>("SELECT * FROM breakers WHERE strategy = ? AND project = ?", strategy, project);
}

/** Only inside the transaction that read what it replaces: it asks for nothing. */
export async function putBreaker(tx: Tx, row: BreakerRow): Promise<void> {
  await tx.run(
    `INSERT INTO breakers (strategy, project, phase, failures, step, generation, version, ends_at, changed_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (strategy, project) DO UPDATE SET phase = excluded.phase, failures = excluded.failures,
       step = excluded.step, generation = excluded.generation, version = excluded.version, ends_at = excluded.ends_at,
       changed_at = excluded.changed_at`,
    row.strategy,
    row.project,
    row.phase,
    row.failures,
    row.step,
    row.generation,
    row.version,
    row.ends_at,
    row.changed_at,
  );
}

export async function databaseTime(reader: Reader): Promise<number> {
  const row = await reader.get<{ now: number }>("SELECT now_ms() AS now");
  return row?.now ?? 0;
}
