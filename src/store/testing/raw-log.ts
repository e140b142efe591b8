/** The audit log in the hands of an attacker who knows exactly how it is made. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { entryHash, planOfEntry, type AuditRow } from "../tables/audit.ts";

type EntryColumns = Omit<AuditRow, "sequence">;

/** A connection of the attacker's own. */
export class RawLog {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  }

  run(sql: string, ...parameters: SQLInputValue[]): void {
    const { changes } = this.#database.prepare(sql).run(...parameters);
    if (Number(changes) === 0) throw new Error(`Nothing was tampered with: ${sql}`);
  }

  entry(chain: string, position: number): AuditRow {
    const row = this.#database
      .prepare("SELECT * FROM audit_entries WHERE chain = ? AND position = ?")
      .get(chain, position);
    return row as unknown as AuditRow;
  }

  update(chain: string, position: number, column: string, value: SQLInputValue): void {
    this.run(`UPDATE audit_entries SET ${column} = ? WHERE chain = ? AND position = ?`, value, chain, position);
  }

  /** Changes an entry and makes its own hash fit; the new hash. */
  forge(chain: string, position: number, change: Partial<EntryColumns>): string {
    const entry = { ...this.entry(chain, position), ...change };
    const hash = entryHash(entry);
    this.update(chain, position, "details", entry.details);
    this.update(chain, position, "previous_hash", entry.previous_hash);
    this.update(chain, position, "hash", hash);
    return hash;
  }

  rewriteFrom(chain: string, position: number, change: Partial<EntryColumns>): void {
    let hash = this.forge(chain, position, change);
    for (let next = position + 1; this.entry(chain, next) !== undefined; next += 1) {
      hash = this.forge(chain, next, { previous_hash: hash });
    }
    this.run("UPDATE audit_chains SET head_hash = ? WHERE chain = ?", hash, chain);
  }

  deleteEntries(chain: string, from: number, to: number): void {
    this.run("DELETE FROM audit_entries WHERE chain = ? AND position BETWEEN ? AND ?", chain, from, to);
  }

  cutTail(chain: string, newLength: number): void {
    this.run("DELETE FROM audit_entries WHERE chain = ? AND position > ?", chain, newLength);
    const { hash } = this.entry(chain, newLength);
    this.run("UPDATE audit_chains SET length = ?, head_hash = ? WHERE chain = ?", newLength, hash, chain);
  }

  deletePlan(id: string, options: { entries: boolean }): void {
    if (options.entries) {
      this.run("DELETE FROM audit_entries WHERE chain = ?", id);
      this.run("DELETE FROM audit_chains WHERE chain = ?", id);
    }
    this.run("DELETE FROM leases WHERE plan_id = ?", id);
    this.run("DELETE FROM plans WHERE id = ?", id);
  }

  deleteSeals(from: number, to: number): void {
    this.run("DELETE FROM audit_seal_heads WHERE seal BETWEEN ? AND ?", from, to);
    this.run("DELETE FROM audit_seals WHERE number BETWEEN ? AND ?", from, to);
  }

  swap(chain: string, one: number, other: number): void {
    this.update(chain, one, "position", -1);
    this.update(chain, other, "position", one);
    this.update(chain, -1, "position", other);
  }

  insertForged(chain: string, position: number): void {
    const previous = position > 1 ? this.entry(chain, position - 1).hash : "0".repeat(64);
    const entry = {
      id: `01FORGED${position}`,
      chain,
      position,
      type: "plan.applied",
      plan_version: null,
      status: null,
      user_name: "mallory",
      at: 0,
      details: "{}",
      previous_hash: previous,
    };
    this.run(
      `INSERT INTO audit_entries (id, chain, position, type, plan_version, status, user_name, at, details, previous_hash,
         hash, plan_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...Object.values(entry),
      entryHash(entry),
      planOfEntry(entry),
    );
  }

  close(): void {
    this.#database.close();
  }
}
