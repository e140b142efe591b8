import type { Store } from "../store/port.ts";
import { recordSourceOf, recordEvent } from "../plans/transition.ts";

/** Tells the audit log and subscribers that a configuration value is being changed. */
export async function recordConfigChange(
  store: Store,
  user: string,
  change: { key: string; from: string | undefined; to: string | undefined; project: string | undefined },
): Promise<void> {
  const { key, from, to, project } = change;
  const details = { key, from: from ?? null, to: to ?? null, project: project ?? null };
  await store.transaction((tx) =>
    recordEvent(tx, recordSourceOf({ store, user }), { type: "config.changed", at: Date.now(), details }),
  );
}
