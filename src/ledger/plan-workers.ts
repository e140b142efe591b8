/**
 * The processes that carry out queued plans, in the table `plan_workers`: so that a command which queues a plan can say
 * whether anything works on the queue. Nothing else depends on it: claims and leases say who owns what.
 */
import type { Reader, Tx } from "../store/port.ts";
import { isDead, thisProcess } from "./lease-owner.ts";

/** A worker that was not heard of for so long is not counted. */
const SILENCE_MS = 15_000;

/** Says that the worker is there; also adds it. Workers that are known to be dead are removed. */
export async function beatWorker(tx: Tx, worker: { readonly id: string; readonly slots: number }): Promise<void> {
  const { host, boot, process } = thisProcess();
  await tx.run(
    `INSERT INTO plan_workers (id, host, boot, process, slots, beat_at) VALUES (?, ?, ?, ?, ?, now_ms())
     ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at`,
    worker.id,
    host,
    boot,
    process,
    worker.slots,
  );
  for (const { id, ...owner } of await tx.all<WorkerRow>("SELECT * FROM plan_workers"))
    if (isDead(owner)) await removeWorker(tx, id);
}

export async function removeWorker(tx: Tx, id: string): Promise<void> {
  await tx.run("DELETE FROM plan_workers WHERE id = ?", id);
}

interface WorkerRow {
  readonly id: string;
  readonly host: string;
  readonly boot: string;
  readonly process: string;
  readonly slots: number;
}

/** How many plans all live workers together can carry out at once; 0 when none is there. */
export async function workingSlots(reader: Reader): Promise<number> {
  const rows = await reader.all<WorkerRow>("SELECT * FROM plan_workers WHERE beat_at > now_ms() - ?", SILENCE_MS);
  return rows.filter((row) => !isDead(row)).reduce((sum, { slots }) => sum + slots, 0);
}
