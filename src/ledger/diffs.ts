/** The owner of the table `diffs`: the content of a plan's diff by a fingerprint of the changes it shows. */
import type { Reader, Tx } from "../store/port.ts";

/** The hash of the content; undefined when no diff of these changes is kept. */
export async function findDiff(reader: Reader, fingerprint: string): Promise<string | undefined> {
  const row = await reader.get<{ content_hash: string }>(
    "SELECT content_hash FROM diffs WHERE fingerprint = ?",
    fingerprint,
  );
  return row?.content_hash;
}

export async function insertDiff(tx: Tx, fingerprint: string, contentHash: string): Promise<void> {
  await tx.run(
    "INSERT INTO diffs (fingerprint, content_hash) VALUES (?, ?) ON CONFLICT (fingerprint) DO NOTHING",
    fingerprint,
    contentHash,
  );
}
