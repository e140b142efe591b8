/** `agents acp`: the streams of the process, handed to the agent of editors. */
import type { CleverAgents } from "../app/open.ts";
import { interruptible } from "./terminal/interrupt.ts";
import type { Io } from "./terminal/io.ts";
import type { ParsedCall } from "./words/program.ts";
import { spellNext } from "./words/spell-next.ts";

export async function serveCommand(agents: CleverAgents, { words }: ParsedCall, io: Io): Promise<void> {
  const log = (text: string): void => void io.stderr.write(`${text}\n`);
  const { signal, stop } = interruptible(io, log);
  const option = (name: string): string | undefined => {
    const value = words.options[name];
    return typeof value === "string" ? value : undefined;
  };
  const options = { profile: option("automationProfile"), actor: option("actor"), budget: option("budget") };
  try {
    await io.serveEditor({ agents, environment: io.env, log, options, spell: spellNext, signal });
  } finally {
    stop();
  }
}
