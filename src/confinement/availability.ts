/** Says which backend confines commands on this machine, in a sentence for people. */
import type { ConfinementBackend } from "./backend.ts";
import { findConfinement } from "./confinement.ts";

/** Which part of the system confines commands on this machine, and the one command that helps where none does. */
export interface ConfinementHere {
  readonly kind: ConfinementBackend["kind"] | "none";
  readonly says: string;
  readonly next?: string;
}

export async function confinementHere(): Promise<ConfinementHere> {
  const found = await findConfinement();
  if (found.kind !== "none") return { kind: found.kind, says: sentence(found.backend) };
  return { kind: "none", says: found.why, ...(found.next === undefined ? {} : { next: found.next }) };
}

const BY = {
  bubblewrap: "bubblewrap confines the commands of plans",
  namespaces: "namespaces of the kernel confine the commands of plans",
  seatbelt: "sandbox-exec confines the commands of plans (untested by us)",
} as const satisfies Record<ConfinementBackend["kind"], string>;

function sentence({ kind, filtered }: ConfinementBackend): string {
  if (filtered || kind === "seatbelt") return BY[kind];
  return `${BY[kind]}; Unix sockets of other programs are not kept from them on this kind of processor`;
}
