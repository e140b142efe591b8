import type { AutomationProfile } from "../domain/automation-profile.ts";
import type { OutputFormat } from "../domain/settings.ts";
import { confinementHere, type ConfinementHere } from "../execution/confinement/here.ts";
import type { Message } from "./outcome.ts";

/** What holds for the commands of plans on this machine, in one line that is said before anything runs. */
export interface CommandsHere {
  readonly kind: ConfinementHere["kind"];
  /** Whether a plan's changes can only be in its sandbox: nothing else could be reached, or nothing was run that could reach it. */
  readonly enforced: boolean;
  readonly message: Message;
  /** The command that makes confinement work; undefined where it works, and where none is known. */
  readonly next: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

const NAMES = { bubblewrap: "bubblewrap", namespaces: "Linux namespaces", seatbelt: "Seatbelt" } as const;

type Rules = Pick<AutomationProfile, "name" | "requireConfinement" | "allowUnsafeTools">;

/** `profile`: of the plan that is about to run; without one, what holds for plans in general. */
export async function commandsHere(profile?: Rules): Promise<CommandsHere> {
  const { kind, says, next } = await confinementHere();
  const required = profile?.requireConfinement ?? true;
  const data = { kind, required, finding: says };
  if (kind !== "none") {
    const network = profile?.allowUnsafeTools === true ? ", and may use the network" : ", without network";
    const text = `Commands are confined by ${NAMES[kind]}: they write only to the sandbox${network}.`;
    return { kind, enforced: true, message: { level: "info", text }, next: undefined, data };
  }
  const text = required
    ? `Commands cannot be confined here (${says}): plans refuse to run them.`
    : `COMMANDS RUN UNCONFINED: nothing here can confine them (${says}), and the profile ${profile?.name} does not require it. They can read and change everything you can, and use the network.`;
  return { kind, enforced: required, message: { level: "warning", text }, next, data };
}

/** The line as it stands on stderr. */
export function confinementLine({ message, next }: CommandsHere): string {
  const before = message.level === "warning" ? "warning: " : "";
  return `${before}${message.text}${next === undefined ? "" : ` next: ${next}`}\n`;
}

/** For machines: only what must be heard each time. */
export function loudMessages({ enforced, message }: CommandsHere): Message[] {
  return enforced ? [] : [message];
}

/** Warns before the first command that runs unconfined: people on stderr, machines in the messages. */
export async function unconfinedWarning(
  profile: Rules,
  format: OutputFormat,
): Promise<{ readonly warn: () => void; readonly messages: () => Message[] }> {
  // Where confinement is required nothing runs without it, and nothing needs to be tried.
  const commands = profile.requireConfinement ? undefined : await commandsHere(profile);
  if (commands === undefined || commands.enforced) return { warn: () => undefined, messages: () => [] };
  const machine = format === "json" || format === "yaml";
  let warned = false;
  return {
    warn: () => {
      if (!warned && !machine) process.stderr.write(confinementLine(commands));
      warned = true;
    },
    messages: () => (warned && machine ? [commands.message] : []),
  };
}
