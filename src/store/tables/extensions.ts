/** The owner of the table `extensions`: the tools and skills that users have added, each stored whole. */
import { nameKey, nameParts, type QualifiedName } from "../../domain/names/qualified-name.ts";
import type { Reader, Tx } from "../port.ts";

export type ExtensionKind = "tool" | "skill";

/** A tool or skill that a user has added. */
export interface Extension<D> {
  readonly definition: D;
  readonly createdAt: number;
}

/**
 * Inserts the extension unless its name is taken; false when it is. Exactly one of any number of concurrent callers
 * gets true.
 */
export async function insertExtension(
  tx: Tx,
  kind: ExtensionKind,
  definition: { readonly name: QualifiedName },
  at: number,
): Promise<boolean> {
  const { name } = definition;
  const inserted = await tx.run(
    `INSERT INTO extensions (kind, key, name, namespace, definition, created_at)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO NOTHING`,
    kind,
    nameKey(name),
    name,
    nameParts(name).namespace.toLowerCase(),
    JSON.stringify(definition),
    at,
  );
  return inserted === 1;
}

export async function deleteExtension(tx: Tx, kind: ExtensionKind, name: QualifiedName): Promise<boolean> {
  return (await tx.run("DELETE FROM extensions WHERE kind = ? AND key = ?", kind, nameKey(name))) === 1;
}

/** In the order of their names. */
export async function findExtensions<D>(
  reader: Reader,
  kind: ExtensionKind,
  namespace?: string,
): Promise<Extension<D>[]> {
  const rows = await reader.all<{ definition: string; created_at: number }>(
    `SELECT definition, created_at FROM extensions
      WHERE kind = ? AND (CAST(? AS TEXT) IS NULL OR namespace = ?) ORDER BY key`,
    kind,
    namespace?.toLowerCase() ?? null,
    namespace?.toLowerCase() ?? null,
  );
  return rows.map(({ definition, created_at: createdAt }) => ({ definition: JSON.parse(definition) as D, createdAt }));
}
