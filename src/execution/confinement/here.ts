import { canConfine } from "../bubblewrap.ts";
import { findProgram } from "../find-program.ts";
import { installCommand } from "./install-command.ts";

/** Which part of the system confines commands on this machine, and the one command that helps where none does. */
export interface ConfinementHere {
  readonly kind: "bubblewrap" | "namespaces" | "seatbelt" | "none";
  readonly says: string;
  readonly next?: string;
}

export async function confinementHere(): Promise<ConfinementHere> {
  if (await canConfine()) return { kind: "bubblewrap", says: "bubblewrap confines the commands of plans" };
  if (findProgram("bwrap") !== undefined) {
    return { kind: "none", says: "bubblewrap is installed, but this system does not let it work" };
  }
  const next = installCommand();
  return { kind: "none", says: "bubblewrap is not installed", ...(next === undefined ? {} : { next }) };
}
