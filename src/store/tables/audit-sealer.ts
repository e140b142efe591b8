/**
 * Seals the audit log apart from the units that append to it, for stores in which units overlap: a seal covers the
 * heads of up to 256 chains, and in the unit of one plan it would conflict with those of all others (measured: under 50
 * writers it did not get through within 50 attempts).
 */
import { markSealed, SEAL_EVERY, sealAudit, unsealedEntries, type SealRow } from "./audit.ts";
import type { Store } from "../port.ts";

/** Units about seals are asked for in one lane: two seals at a time would only conflict. */
const LANE = { lane: "audit seals" };

/** Seals what is not sealed yet; the newest seal, or undefined while the log is empty. */
export async function sealLog(store: Store, at: number): Promise<SealRow | undefined> {
  const { seal, heads } = await store.transaction((tx) => sealAudit(tx, at), LANE);
  // One unit for each chain, so that none waits for the units of more than one plan.
  for (const head of heads) await store.transaction((tx) => markSealed(tx, [head]), LANE);
  return seal;
}

const EVERY_MS = 60_000;

/** Looks now, and from now on every minute, whether a seal is due. */
export async function keepSealed(store: Store, everyMs: number = EVERY_MS): Promise<Disposable> {
  await sealWhenDue(store, Date.now());
  const look = (): void => {
    // The next minute tries again; until then the entries are as safe as all that no seal covers yet.
    sealWhenDue(store, Date.now()).catch(() => undefined);
  };
  const timer = setInterval(look, everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Seals when as many entries are waiting as one seal covers. */
export async function sealWhenDue(store: Store, at: number): Promise<void> {
  if ((await store.read(unsealedEntries)) >= SEAL_EVERY) await sealLog(store, at);
}
