/** How commands of plans are confined on this machine: told before anything runs. */
import * as z from "zod";
import type { AutomationProfile } from "../../domain/profile/automation-profile.ts";
import type { NoticeEvent } from "../../domain/run-event.ts";
import { confinementHere, type ConfinementHere } from "../../confinement/availability.ts";

export const ConfinementFacts = z.strictObject({ kind: z.string(), required: z.boolean(), finding: z.string() });

export interface CommandsHere {
  readonly kind: ConfinementHere["kind"];
  /** A plan's changes can only be in its sandbox: nothing else can be reached, or nothing runs that could reach it. */
  readonly enforced: boolean;
  readonly notice: NoticeEvent;
  /** The command that makes confinement work; undefined where it works, and where none is known. */
  readonly next: string | undefined;
  readonly facts: z.output<typeof ConfinementFacts>;
}

const NAMES = { bubblewrap: "bubblewrap", namespaces: "Linux namespaces", seatbelt: "Seatbelt" } as const;

const NETWORK_TEXTS = {
  off: ", without network",
  registries: ", and reach registries of packages and nothing else of the network",
  on: ", and may use the network",
} as const;

type Rules = Pick<AutomationProfile, "name" | "requireConfinement" | "network">;

/** `profile`: of the plan that is about to run; without one, what holds for plans in general. */
export async function commandsHere(profile?: Rules): Promise<CommandsHere> {
  const { kind, says, next } = await confinementHere();
  const required = profile?.requireConfinement ?? true;
  const facts = { kind, required, finding: says };
  if (kind !== "none") {
    const network = NETWORK_TEXTS[profile?.network ?? "off"];
    const text = `Commands are confined by ${NAMES[kind]}: they write only to the sandbox${network}.`;
    return { kind, enforced: true, notice: { type: "notice", level: "info", text }, next: undefined, facts };
  }
  const finding = required
    ? `Commands cannot be confined here (${says}): plans refuse to run them.`
    : `COMMANDS RUN UNCONFINED: nothing here can confine them (${says}), and the profile ${profile?.name} does not require it. They can read and change everything you can, and use the network.`;
  const text = next === undefined ? finding : `${finding} next: ${next}`;
  return { kind, enforced: required, notice: { type: "notice", level: "warning", text }, next, facts };
}
